/** `npm run control-plane -- --config FILE`. */
import { pino } from 'pino'
import { systemClock } from '../shared/clock.ts'
import { keepCompiledCode } from '../shared/compile-cache.ts'
import { ConfigError } from '../shared/config/config.ts'
import { describeError, logOptions } from '../shared/log.ts'
import { controlPlaneSettings, loadSettings } from './config.ts'

// an error that nobody caught may carry what a query was run with, and would be printed whole
process.on('uncaughtException', (error) => {
  process.stderr.write(`${JSON.stringify(describeError(error))}\n`)
  process.exit(1)
})

keepCompiledCode()
const { startControlPlane, StartProblem } = await import('./control-plane.ts')

try {
  const settings = controlPlaneSettings(loadSettings(process.argv.slice(2)))
  const log = pino(logOptions('control-plane', process.stdout.isTTY))
  const isStopped = stopSignal()
  const controlPlane = await startControlPlane(settings, { log, clock: systemClock })
  const { address, fleetAddress } = controlPlane
  log.info({ address: address.address, port: address.port }, 'control plane listens')
  process.send?.({ ready: true, address, fleetAddress })
  await isStopped
  await controlPlane.close()
  log.info('control plane stopped')
  process.disconnect?.()
} catch (error) {
  if (!(error instanceof ConfigError) && !(error instanceof StartProblem)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
  process.disconnect?.()
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
    process.on('disconnect', resolve) // never outlives who started it
  })
}
