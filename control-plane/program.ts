/** The control plane as a process; `backup`, `restore`, `restored` and `copy` of its database. */
import { statSync } from 'node:fs'
import { pino } from 'pino'
import { systemClock } from '../shared/clock.ts'
import { writeCompiledCode } from '../shared/compile-cache.ts'
import { ConfigError } from '../shared/config/config.ts'
import { fileState, watchKeyFiles } from '../shared/config/key-watch.ts'
import type { Settings } from '../shared/config/settings.ts'
import { describeError, logOptions } from '../shared/log.ts'
import {
  controlPlaneSettings,
  loadSettings,
  recoverySettings,
  replaceKeys,
  rereadSettings,
} from './config.ts'

export async function runProgram(args: readonly string[]): Promise<void> {
  // an error that nobody caught may carry what a query was run with, and would be printed whole
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${JSON.stringify(describeError(error))}\n`)
    process.exit(1)
  })
  try {
    if (isCommand(args)) await runCommand(args)
    // before the rest is loaded: what is wrong with a setting is said at once
    else await serve(loadSettings(args), args)
  } catch (error) {
    const isOfSettings = error instanceof ConfigError
    if (!isOfSettings && !(await isExplained(error))) throw error
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = isOfSettings ? 2 : 1
    process.disconnect?.()
  }
}

/** `backup` and its like stand before all options. */
function isCommand([first = '-']: readonly string[]): boolean {
  return !first.startsWith('-')
}

async function isExplained(error: unknown): Promise<boolean> {
  const { StartProblem } = await import('./control-plane.ts')
  const { RecoveryProblem } = await import('./recovery/problem.ts')
  const { DatabaseProblem } = await import('./store/engines/server.ts')
  return [StartProblem, RecoveryProblem, DatabaseProblem].some((kind) => error instanceof kind)
}

async function runCommand(args: readonly string[]): Promise<void> {
  const { recoveryCommand } = await import('./recovery/commands.ts')
  const command = recoveryCommand(args)
  if (command === undefined) return serve(loadSettings(args), args)
  return command.run(recoverySettings(command.rest), (line) => process.stdout.write(`${line}\n`))
}

async function serve(given: Settings, args: readonly string[]): Promise<void> {
  const threshold = { level: given.config.control_plane.log_level }
  const settings = controlPlaneSettings(given)
  const { startControlPlane } = await import('./control-plane.ts')
  writeCompiledCode()
  const log = pino(logOptions('control-plane', process.stdout.isTTY, threshold))
  const isStopped = stopSignal()
  const paths = given.keyFiles
  const stateOf = (path: string) => {
    const facts = statSync(path, { throwIfNoEntry: false, bigint: true })
    return facts && fileState(facts)
  }
  const watch = watchKeyFiles({ paths, stateOf, onChange: () => reread(false) })
  if (!process.stdout.isTTY) process.on('SIGHUP', () => reread(true))

  function reread(isAsked: boolean) {
    try {
      const now = rereadSettings(args)
      const replaced = replaceKeys(settings, now)
      if (isAsked) threshold.level = now.config.control_plane.log_level
      if (isAsked || replaced.length > 0)
        log.info({ replaced, level: threshold.level }, 'keys and log level were read again')
    } catch (error) {
      const reason = (error as Error).message
      log.error({ reason }, 'keys and log level could not be read again, all stays as it is')
    }
  }

  const controlPlane = await startControlPlane(settings, { log, clock: systemClock })
  const { address, fleetAddress, tlsAddress } = controlPlane
  log.info({ address: address.address, port: address.port }, 'control plane listens')
  process.send?.({ ready: true, address, fleetAddress, ...(tlsAddress && { tlsAddress }) })
  const problem = await Promise.race([isStopped, controlPlane.lost])
  if (problem !== undefined) log.fatal(problem)
  watch.close()
  await controlPlane.close()
  if (problem !== undefined) process.exitCode = 1
  log.info('control plane stopped')
  process.disconnect?.()
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    // a terminal that closes says SIGHUP
    const signals = ['SIGINT', 'SIGTERM', ...(process.stdout.isTTY ? ['SIGHUP'] : [])]
    for (const signal of signals) process.on(signal, () => resolve())
    process.on('disconnect', resolve) // never outlives who started it
  })
}
