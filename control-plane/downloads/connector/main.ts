/** The program `service-connector`: the environment in, an exit code out. */
import { homedir, hostname } from 'node:os'
import type { ProgramSignal } from './commands/command.ts'
import { run } from './program.ts'

const { stdin, stdout, stderr, argv, env, platform } = process

// who stops reading the log does not stop the connector
for (const stream of [stdout, stderr]) stream.on('error', () => undefined)

const SIGNALS: readonly (readonly [NodeJS.Signals, ProgramSignal])[] = [
  ['SIGTERM', 'stop'],
  ['SIGINT', 'stop'],
  ['SIGHUP', 'stop'],
  ...(platform === 'win32' ? [] : [['SIGUSR2', 'rotate'] as const]),
]

process.exitCode = await run(argv.slice(2), {
  environment: env,
  stdin,
  stdout,
  stderr,
  homeFolder: homedir(),
  hostName: hostname(),
  userId: process.getuid?.(),
  platform,
  nodeFile: process.execPath,
  programFile: argv[1] ?? '',
  nowMs: Date.now,
  upMs: () => performance.now(),
  random: Math.random,
  onSignal(listen) {
    for (const [signal, kind] of SIGNALS) process.on(signal, () => listen(kind))
  },
})
