/** `npm run gateway -- --config FILE`. One file for both kinds of process, told apart by cluster. */
import cluster from 'node:cluster'
import { pino } from 'pino'
import { ConfigError } from '../shared/config.ts'
import { logOptions } from '../shared/log.ts'
import { loadGatewaySettings } from './config.ts'

try {
  const settings = loadGatewaySettings(process.argv.slice(2))
  const log = openLog()
  // each kind loads only what it runs: half the time to the first request
  if (cluster.isPrimary) {
    const { runPrimary } = await import('./primary.ts')
    process.exitCode = await runPrimary(settings, log)
    process.disconnect?.()
  } else {
    const { runWorker } = await import('./worker.ts')
    await runWorker(settings, log)
  }
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}

function openLog() {
  const isTerminal = process.stdout.isTTY
  const options = logOptions('gateway', isTerminal)
  // written in batches: an access line per request must not cost a system call each
  return isTerminal
    ? pino(options)
    : pino(options, pino.destination({ sync: false, minLength: 4096, periodicFlush: 200 }))
}
