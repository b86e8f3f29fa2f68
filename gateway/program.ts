/** One program for both kinds of process, told apart by cluster. */
import cluster from 'node:cluster'
import { fstatSync, write } from 'node:fs'
import { pino, type Logger } from 'pino'
import { writeCompiledCode } from '../shared/compile-cache.ts'
import { ConfigError } from '../shared/config/config.ts'
import { LIMITS } from '../shared/limits.ts'
import { logOptions, type LogThreshold } from '../shared/log.ts'
import { loadGatewaySettings } from './config.ts'
import { BATCH_CHARACTERS, createLineWriter, createLogSink } from './telemetry/line-writer.ts'

/** Beyond so many bytes that nobody reads, lines are dropped. */
const LOG_BATCH = { minLength: 4096, maxLength: LIMITS.logCharactersHeldMax } as const

export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    const settings = loadGatewaySettings(args)
    const threshold = { level: settings.logLevel }
    const log = openLog(threshold)
    // each kind loads only what it runs: half the time to the first request
    if (cluster.isPrimary) {
      const { runPrimary } = await import('./process/primary.ts')
      writeCompiledCode()
      const reread = () => loadGatewaySettings(args, false)
      process.exitCode = await runPrimary(settings, { log, threshold, reread })
      process.disconnect?.()
    } else {
      const { runWorker } = await import('./process/worker.ts')
      writeCompiledCode()
      await runWorker(settings, log, openLines(log))
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 2
    process.disconnect?.() // or a worker would wait for its primary for ever
  }
}

function openLog(threshold: LogThreshold) {
  const isTerminal = process.stdout.isTTY
  const options = logOptions('gateway', isTerminal, threshold)
  return isTerminal
    ? pino(options)
    : pino(options, pino.destination({ sync: false, periodicFlush: 200, ...LOG_BATCH }))
}

/** The access log goes to the same place, on a shorter way. */
function openLines(log: Logger) {
  const { stdout } = process
  if (stdout.isTTY) return createLogSink((entry) => log.info(entry))
  const place = fstatSync(stdout.fd)
  if (!place.isFIFO() && !place.isSocket())
    return createLineWriter({
      write: (text, done) => write(stdout.fd, text, null, 'latin1', done),
      // A file keeps any write together, and each costs a trip to another thread and back.
      writeCharacters: BATCH_CHARACTERS,
    })
  // Never waits for the reader, so it needs no other thread; who is gone loses lines, and no more.
  stdout.on('error', () => {})
  return createLineWriter({
    write: (text, done) =>
      void stdout.write(text, 'latin1', (error) => done(error ?? null, error ? 0 : text.length)),
  })
}
