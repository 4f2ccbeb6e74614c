/** What a person sees who starts the engine in a terminal. Programs see none of it: it goes to stderr of a TTY only. */
export function formatGreeting(version: string, network: string): string {
  return [
    `Sardonyx ${version}, a UCI chess engine. Network: ${network}`,
    'Try:  position startpos moves e2e4',
    '      go movetime 1000',
    '      eval                        (help lists everything, quit ends)',
    '',
  ].join('\n');
}
