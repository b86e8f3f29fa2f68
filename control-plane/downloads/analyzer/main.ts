/** The program `service-analyzer`: the environment in, an exit code out. */
import { homedir } from 'node:os'
import { EXIT } from '../command-line/exit.ts'
import { run } from './program.ts'

const { stdin, stdout, stderr, argv, env } = process

// who stops reading does not stop the work: files are written to the end, the exit code is true
for (const stream of [stdout, stderr]) stream.on('error', () => undefined)

/** 128 and the number of the signal, as shells count. */
const SIGNALS = { SIGINT: EXIT.interrupted, SIGTERM: 143, SIGHUP: 129 } as const
const SETUP_STOPPED = 'Stopped. To continue where it stopped: service-analyzer setup\n'
let isHeld = false
for (const [signal, code] of Object.entries(SIGNALS))
  process.on(signal, () => {
    if (isHeld) return
    if (stderr.isTTY) stderr.write('\r\u001b[2K') // what was being drawn over
    if (stderr.isTTY && argv[2] === 'setup') stderr.write(SETUP_STOPPED)
    process.exit(code)
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
  async uninterrupted(work) {
    isHeld = true
    return work().finally(() => (isHeld = false))
  },
  fetch,
})
