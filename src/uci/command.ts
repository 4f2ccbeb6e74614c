/** The commands of a GUI, after parsing. Moves and FENs are still text, because only the engine knows the position. */
export interface GoCommand {
  infinite?: boolean;
  ponder?: boolean;
  whiteTimeMs?: number;
  blackTimeMs?: number;
  whiteIncrementMs?: number;
  blackIncrementMs?: number;
  movesToGo?: number;
  depth?: number;
  nodes?: number;
  mate?: number;
  moveTimeMs?: number;
  searchMoves?: string[];
  perft?: number;
}

export type UciCommand =
  | {
      readonly type:
        | 'uci'
        | 'isready'
        | 'ucinewgame'
        | 'stop'
        | 'ponderhit'
        | 'quit'
        | 'd'
        | 'eval'
        | 'wait'
        | 'help'
        | 'xyzzy'
        | 'register';
    }
  | { readonly type: 'debug'; readonly on: boolean }
  | { readonly type: 'setoption'; readonly option: string; readonly value: string }
  /** fen null = the start position. */
  | { readonly type: 'position'; readonly fen: string | null; readonly moves: readonly string[] }
  /** `ignored`: what could not be understood. */
  | { readonly type: 'go'; readonly go: GoCommand; readonly ignored: readonly string[] }
  | { readonly type: 'bench'; readonly words: readonly string[] };

/** Every command, with the lines that `help` prints for it. The parser accepts no other. */
export const COMMAND_HELP: Record<UciCommand['type'], string> = {
  uci: 'uci                          print name and options, then uciok',
  isready: 'isready                      print readyok once the network is loaded',
  setoption: 'setoption name N [value V]   set an option; names are not case-sensitive',
  ucinewgame: 'ucinewgame                   forget the last game',
  position: 'position startpos|fen F [moves m1 m2 …]',
  go: 'go [infinite] [ponder] [wtime|btime|winc|binc MS] [movestogo N] [movetime MS]\n   [nodes N] [depth N] [mate N] [searchmoves m1 m2 …]   search;   go perft N   count moves',
  stop: 'stop                         end the search or perft and answer',
  ponderhit: 'ponderhit                    the opponent played the expected move',
  wait: 'wait                         read no further line until the search has ended (for scripts)',
  d: 'd                            show the board',
  eval: 'eval                         show the network’s evaluation of the position',
  bench: 'bench [nodes] [flags]        search fixed positions; print speed and signature',
  debug: 'debug on|off                 print more info strings',
  register: 'register                     does nothing; Sardonyx needs no registration',
  xyzzy: 'xyzzy',
  help: 'help                         show this list',
  quit: 'quit                         end the program',
};
