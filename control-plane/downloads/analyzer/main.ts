/** The program `service-analyzer`: the environment in, an exit code out. */
import { homedir } from 'node:os'
import { EXIT } from './exit.ts'
import { run } from './program.ts'

const { stdin, stdout, stderr, argv, env } = process

// who stops reading does not stop the work: files are written to the end, the exit code is true
for (const stream of [stdout, stderr]) stream.on('error', () => undefined)

process.once('SIGINT', () => {
  if (stderr.isTTY) stderr.write('\r\u001b[2K')
  process.exit(EXIT.interrupted)
})

process.exitCode = await run(argv.slice(2), {
  environment: env,
  stdin,
  stdout,
  stderr,
  currentFolder: process.cwd(),
  homeFolder: homedir(),
  userId: process.getuid?.(),
  nodeVersion: process.versions.node,
  programFile: argv[1] ?? '',
  nowMs: Date.now,
  fetch,
})
