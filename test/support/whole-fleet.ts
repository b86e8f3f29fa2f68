/**
 * One fleet for all files of a room that need none of their own: each test brings tenants of names
 * that no other takes, and what a test has stopped is there again for the next.
 */
import { Browser } from './browser.ts'
import { startFleet, type Fleet, type Program } from './programs.ts'
import { afterRoom } from './room.ts'

interface TestScope {
  after(work: () => Promise<void>): void
}

let started: Promise<Fleet> | undefined

/** Two gateways of two workers: whatever has to hold, holds at each of four. */
export async function wholeFleet(t: TestScope): Promise<Fleet> {
  started ??= startFleet({ after: (work) => atTheEnd(t, work) }, { gateways: 2, workers: 2 })
  const fleet = await started
  const missing = fleet.gateways.flatMap((gateway, at) => (isRunning(gateway) ? [] : [at]))
  const isComplete = isRunning(fleet.controlPlane) && missing.length === 0
  if (!isRunning(fleet.controlPlane)) await fleet.startControlPlane()
  await Promise.all(missing.map((at) => fleet.startGateway(at)))
  if (!isComplete) await fleet.settled()
  return Object.assign(Object.create(fleet) as Fleet, {
    browser() {
      const browser = new Browser()
      t.after(() => browser.close())
      return browser
    },
  })
}

/** Where a file runs alone, each of its tests has a fleet: nobody else knows when the last is over. */
function atTheEnd(t: TestScope, work: () => Promise<void>): void {
  if (afterRoom(work)) return
  t.after(async () => {
    started = undefined
    await work()
  })
}

const isRunning = ({ child }: Program) => child.exitCode === null && child.signalCode === null
