/** Stores on Postgres, and what stands in the way of their commits. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { openPostgres } from '../../control-plane/store/engines/postgres.ts'
import { postgresAddress } from '../../control-plane/store/engines/postgres-address.ts'
import { sql } from '../../control-plane/store/drizzle.ts'
import { schema } from '../../control-plane/store/schema.ts'
import { openStore, type Change, type Store } from '../../control-plane/store/store.ts'
import { movableClock } from './control-plane.ts'
import { ownPostgres, postgresUrl } from './databases.ts'
import type { Teardown } from './postgres.ts'

export const { facts } = schema
let databases = 0

export async function newUrl(): Promise<string> {
  return postgresUrl(`database ${databases++}`)
}

export async function storeAt(
  t: Teardown,
  url: string,
  options: Parameters<typeof openPostgres>[1] = {},
): Promise<Store> {
  const engine = await openPostgres(postgresAddress(url), options)
  const store = await openStore(engine, movableClock())
  t.teardown(() => store.close())
  return store
}

/** Straight to the server, past the engine. */
export async function asAdmin(url: string, text: string) {
  const { run } = await ownPostgres()
  return (await run(text, new URL(url).pathname.slice(1))).rows as Record<string, unknown>[]
}

export const remember = (name: string) => (change: Change) =>
  change.queries.insert(facts).values({ name, value: '' })

export const namesIn = async (store: Store) =>
  (
    await store.read
      .select()
      .from(facts)
      .where(sql`${facts.name} <> 'epoch'`)
  ).map(({ name }) => name)

export const failOnce = (state: string) => {
  let isFirst = true
  return async ({ queries }: Change) => {
    if (!isFirst) return
    isFirst = false
    await queries.run(sql.raw(`DO $$ BEGIN RAISE EXCEPTION SQLSTATE '${state}'; END $$`))
  }
}

/**
 * Between the engine and the server; `onCommit` decides what becomes of the next one. With `away
 * behind` there is no way to the server any more, until `isAway` says otherwise.
 */
export async function startRelay(t: Teardown, port: number) {
  const relay = {
    onCommit: 'pass' as 'pass' | 'cut before' | 'cut behind' | 'away behind',
    isAway: false,
    sent: '',
  }
  const ends = new Set<() => void>()
  const server = createServer((near) => {
    if (relay.isAway) return void near.destroy()
    const far: Socket = connect(port, '127.0.0.1')
    const end = () => {
      ends.delete(end)
      near.destroy()
      far.destroy()
    }
    ends.add(end)
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    let onAnswer: (() => void) | undefined
    near.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      relay.sent += text
      if (text.includes('; COMMIT') && relay.onCommit !== 'pass') {
        if (relay.onCommit === 'cut before') end()
        if (relay.onCommit === 'cut behind') onAnswer = end
        if (relay.onCommit === 'away behind') onAnswer = goAway
        relay.onCommit = 'pass'
      }
      far.write(chunk)
    })
    far.on('data', (chunk) => (onAnswer === undefined ? near.write(chunk) : onAnswer()))
  })
  function goAway() {
    relay.isAway = true
    for (const end of ends) end()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return Object.assign(relay, { port: (server.address() as AddressInfo).port })
}
