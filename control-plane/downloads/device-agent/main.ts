/** The program `service-device-agent`: the environment in, an exit code out. */
import { hostname, uptime } from 'node:os'
import { createRunTool } from './key/tools.ts'
import { run } from './program.ts'

const { stdin, stdout, stderr, argv, env, platform } = process

// who stops reading the log does not stop the agent
for (const stream of [stdout, stderr]) stream.on('error', () => undefined)

process.exitCode = await run(argv.slice(2), {
  environment: env,
  stdin,
  stdout,
  stderr,
  hostName: hostname(),
  arch: process.arch,
  platform,
  userId: process.getuid?.(),
  root: '/',
  nodeFile: process.execPath,
  programFile: argv[1] ?? '',
  tpm: {
    tool: createRunTool(env),
    device: env['TPM2TOOLS_TCTI'] === undefined ? '/dev/tpmrm0' : null,
  },
  nowMs: Date.now,
  upS: uptime,
  random: Math.random,
  onStop(listen) {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, listen)
  },
})
