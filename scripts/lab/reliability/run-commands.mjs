// The helper process of damaged-files.mjs: runs the commands that its parent sends, one after the other in this process, and
// answers with status, stderr and memory.
import { runProgram } from '../../../dist/cli/program.js';

let stderr = '';
process.stdout.write = (_chunk, ...rest) => {
  rest.find((argument) => typeof argument === 'function')?.();
  return true;
};
process.stderr.write = (chunk, ...rest) => {
  stderr += chunk;
  rest.find((argument) => typeof argument === 'function')?.();
  return true;
};

process.on('message', async (args) => {
  stderr = '';
  process.exitCode = 0;
  await runProgram(args);
  process.removeAllListeners('uncaughtException');
  const code = process.exitCode ?? 0;
  process.send({ code, stderr, rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20) });
});
