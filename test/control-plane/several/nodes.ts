/** Two control planes on one database, with whatever asks them in turns. */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import {
  movableClock,
  startServices,
  temporaryFolder,
  type ServicesOptions,
} from '../../support/control-plane.ts'
import { newDatabase } from '../../support/databases.ts'
import { startWorld, type WorldOptions } from '../realm/realm-world.ts'

/** What all of them have. */
export async function commonOf(t: Test) {
  const file = await newDatabase(join(temporaryFolder(t), 'service.db'))
  return { file, masterKey: randomBytes(32), clock: movableClock(Date.now()) }
}

export async function startTwo(t: Test, each: readonly ServicesOptions[] = [{}, {}]) {
  const common = await commonOf(t)
  const [one = {}, other = {}] = each
  const here = await startServices(t, { ...common, ...one })
  const there = await startServices(t, { ...common, ...other })
  return { here, there, clock: common.clock }
}

/** Realms behind one address, which asks them in turns. */
export async function startTwoRealms(t: Test, options: WorldOptions = {}) {
  const common = { ...(await commonOf(t)), ...options }
  let asked = 0
  const front = createServer((request, response) => {
    const { realms } = asked++ % 2 === 0 ? here : there
    void realms.handle(request, response)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void front.close())
  const baseUrl = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  const here = await startWorld(t, { ...common, baseUrl })
  const there = await startWorld(t, { ...common, baseUrl })
  return { here, there, clock: common.clock }
}

/** Half of them each, and all at once. */
export function atOnce<Node, T>(
  nodes: readonly [Node, Node],
  count: number,
  ask: (node: Node, number: number) => Promise<T>,
): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(
    Array.from({ length: count }, (_, number) => ask(nodes[number % 2] as Node, number)),
  )
}

export const fulfilledOf = <T>(all: readonly PromiseSettledResult<T>[]): T[] =>
  all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
