/**
 * What a start costs. `npm run bench:start [rounds]`
 *
 * A control plane with an empty database, a gateway beside it, and `npm start` until it prints its
 * addresses, with what V8 has compiled kept from a round before, as behind every second start. CPU
 * is user and kernel time of the program and its children until it says that it serves. What is
 * printed last is time on a clock, so it is only what it should be on a machine without other work.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ownConfig } from '../test/support/npm-start.ts'
import { Program, SECRETS, spawnCommand } from '../test/support/programs.ts'
import { cpuTime, familyOf } from './cpu.ts'
import { median } from './measured.ts'

const rounds = Number(process.argv[2] ?? 7)

const LIMITS = { 'control plane': 1500, gateway: 500, 'npm start': 2500 } as const
const { file, folder } = await ownConfig()
const data = join(folder, 'data')

const controlPlanes: number[] = []
const gateways: number[] = []
for (let round = 0; round <= rounds; round++) {
  emptied()
  const controlPlane = await started('control-plane/main.ts')
  const gateway = await started('gateway/main.ts')
  await gateway.stop()
  await controlPlane.stop()
  if (round === 0) continue // compiles
  controlPlanes.push(controlPlane.cpuMs)
  gateways.push(gateway.cpuMs)
}
const whole: number[] = []
for (let round = 0; round <= rounds; round++) {
  emptied()
  const ms = await untilPrinted()
  if (round > 0) whole.push(ms)
}
console.log(`${rounds} starts each, ms`)
report('control plane', 'CPU', controlPlanes)
report('gateway', 'CPU, primary and worker', gateways)
report('npm start', 'until the addresses are printed', whole)

function emptied() {
  rmSync(data, { recursive: true, force: true })
  mkdirSync(data)
}

async function started(program: string) {
  const running = new Program(program, ['--config', file], SECRETS)
  await running.ready
  const { userUs, kernelUs } = cpuTime(familyOf(running.child.pid ?? 0))
  return { cpuMs: (userUs + kernelUs) / 1000, stop: () => running.stop('SIGKILL') }
}

async function untilPrinted(): Promise<number> {
  const startMs = performance.now()
  const { child, signalGroup } = spawnCommand('npm', ['start', '--', '--config', file])
  const ended = new Promise((resolve) => child.once('close', resolve))
  let said = ''
  const ms = await new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('Ctrl-C stops everything')) resolve(performance.now() - startMs)
    })
    child.stderr.resume()
    void ended.then(() => reject(new Error(`npm start ended:\n${said}`)))
  })
  signalGroup('SIGINT')
  await ended
  return ms
}

function report(name: keyof typeof LIMITS, what: string, list: readonly number[]) {
  const [least, middle] = [Math.min(...list), median(list)].map((ms) => ms.toFixed(0).padStart(5))
  const limit = LIMITS[name]
  const verdict = median(list) <= limit ? 'holds' : 'does not hold'
  console.log(
    `  ${name.padEnd(14)} ${what.padEnd(32)} least ${least}  median ${middle}  at most ${limit}: ${verdict}`,
  )
}
