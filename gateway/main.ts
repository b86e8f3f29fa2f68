/** `npm run gateway -- --config FILE`. One file for both kinds of process, told apart by cluster. */
import cluster from 'node:cluster'
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { pino } from 'pino'
import { keepCompiledCode, writeCompiledCode } from '../shared/compile-cache.ts'
import { ConfigError } from '../shared/config/config.ts'
import { logOptions, type LogThreshold } from '../shared/log.ts'
import { loadGatewaySettings } from './config.ts'
import {
  asciiOf,
  createLineWriter,
  createLogSink,
  FILE_BATCH_CHARACTERS,
  type LineWriter,
} from './telemetry/line-writer.ts'

try {
  const args = process.argv.slice(2)
  const settings = loadGatewaySettings(args)
  const threshold = { level: settings.logLevel }
  const output = openOutput(threshold)
  const { log } = output
  keepCompiledCode()
  // each kind loads only what it runs: half the time to the first request
  if (cluster.isPrimary) {
    const { runPrimary } = await import('./process/primary.ts')
    writeCompiledCode()
    const reread = () => loadGatewaySettings(args, false)
    process.exitCode = await runPrimary(settings, { log, threshold, reread })
    await output.lines?.close()
    process.disconnect?.()
  } else {
    const { runWorker } = await import('./process/worker.ts')
    writeCompiledCode()
    await runWorker(settings, log, openLines(output))
  }
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
  process.disconnect?.() // or a worker would wait for its primary for ever
}

type Output = ReturnType<typeof openOutput>

/**
 * By a writer of our own: pino's ends when its lines are gone, so where nobody reads them a process
 * that has been told to stop would never end.
 */
function openOutput(threshold: LogThreshold) {
  const { isTTY } = process.stdout
  const options = logOptions('gateway', isTTY, threshold)
  if (isTTY) return { log: pino(options), lines: undefined }
  const fd = ownDescription(process.stdout.fd)
  const lines = createLineWriter({
    write: (text, done) => write(fd, text, null, 'latin1', done),
    writeNow: (text) => writeSync(fd, text, null, 'latin1'),
  })
  process.once('exit', lines.endNow)
  return { log: pino(options, { write: (line) => lines.add(asciiOf(line)) }), lines }
}

/**
 * That a pipe is not waited for is said of it once for all who share it, and each process that is
 * begun takes that back: then a write would hold a thread, and with it the end of this process, until
 * somebody reads. Opened anew it is ours alone; a pipe without a reader takes no write, and keeps nobody.
 */
function ownDescription(fd: number): number {
  if (!fstatSync(fd).isFIFO()) return fd
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return fd
  }
}

/** The access log goes to the same place, on a shorter way, with room of its own. */
function openLines({ log, lines }: Output) {
  if (lines === undefined) return createLogSink((entry) => log.info(entry))
  const own = createLineWriter(wayOut())
  return {
    ...own,
    dropped: () => lines.dropped() + own.dropped(),
    close: async () => void (await Promise.all([own.close(), lines.close()])),
  } satisfies LineWriter
}

function wayOut(): Parameters<typeof createLineWriter>[0] {
  const { stdout } = process
  const place = fstatSync(stdout.fd)
  if (!place.isFIFO() && !place.isSocket())
    return {
      write: (text, done) => write(stdout.fd, text, null, 'latin1', done),
      batchCharacters: FILE_BATCH_CHARACTERS,
    }
  // Never waits for the reader, so it needs no other thread; who is gone loses lines, and no more.
  const fd = ownDescription(stdout.fd)
  const to = fd === stdout.fd ? stdout : new Socket({ fd, readable: false, writable: true })
  to.on('error', () => {})
  return {
    write: (text, done) =>
      void to.write(text, 'latin1', (error) => done(error ?? null, error ? 0 : text.length)),
  }
}
