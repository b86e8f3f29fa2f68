/** `npm run control-plane -- --config FILE`; `backup`, `restore`, `restored` and `copy` of its database. */
import { pino } from 'pino'
import { systemClock } from '../shared/clock.ts'
import { keepCompiledCode } from '../shared/compile-cache.ts'
import { ConfigError } from '../shared/config/config.ts'
import { describeError, logOptions } from '../shared/log.ts'
import {
  controlPlaneSettings,
  loadSettings,
  recoverySettings,
  type ControlPlaneSettings,
} from './config.ts'

// an error that nobody caught may carry what a query was run with, and would be printed whole
process.on('uncaughtException', (error) => {
  process.stderr.write(`${JSON.stringify(describeError(error))}\n`)
  process.exit(1)
})

keepCompiledCode()
const { startControlPlane, StartProblem } = await import('./control-plane.ts')
const { recoveryCommand } = await import('./recovery/commands.ts')
const { RecoveryProblem } = await import('./recovery/problem.ts')
const { DatabaseProblem } = await import('./store/engines/server.ts')

try {
  const args = process.argv.slice(2)
  const command = recoveryCommand(args)
  if (command === undefined) await serve(controlPlaneSettings(loadSettings(args)))
  else
    await command.run(recoverySettings(command.rest), (line) => process.stdout.write(`${line}\n`))
} catch (error) {
  const isExplained =
    error instanceof StartProblem ||
    error instanceof RecoveryProblem ||
    error instanceof DatabaseProblem
  if (!(error instanceof ConfigError) && !isExplained) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
  process.disconnect?.()
}

async function serve(settings: ControlPlaneSettings): Promise<void> {
  const log = pino(logOptions('control-plane', process.stdout.isTTY))
  const isStopped = stopSignal()
  const controlPlane = await startControlPlane(settings, { log, clock: systemClock })
  const { address, fleetAddress } = controlPlane
  log.info({ address: address.address, port: address.port }, 'control plane listens')
  process.send?.({ ready: true, address, fleetAddress })
  const problem = await Promise.race([isStopped, controlPlane.lost])
  if (problem !== undefined) log.fatal(problem)
  await controlPlane.close()
  if (problem !== undefined) process.exitCode = 1
  log.info('control plane stopped')
  process.disconnect?.()
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
    process.on('disconnect', resolve) // never outlives who started it
  })
}
