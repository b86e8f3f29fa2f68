/** A guard that says what a test wants, behind the real adapters, and a client that reads all of an answer. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Guard, Outcome } from '../../control-plane/downloads/sdk-node/guard.ts'
import { createService } from '../../control-plane/downloads/sdk-node/service.ts'
import { RawClient } from './wire.ts'

interface Teardown {
  teardown(work: () => unknown): void
}

export type Forward = Extract<Outcome, { kind: 'forward' }>

const IDENTITY = { token: 'a.b.c', claims: { sub: 'usr_ada', name: 'Ada' } as never }

export function forward(more: Partial<Forward> = {}): Outcome {
  return {
    kind: 'forward',
    target: '/',
    identity: IDENTITY,
    isForeignPage: false,
    privateCookies: [],
    ...more,
  }
}

export function serviceOf(judge: Guard['judge']) {
  return createService({ judge, ready: async () => {}, close: async () => {} })
}

export async function listen(t: Teardown, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export async function ask(t: Teardown, server: Server, line = 'GET / HTTP/1.1', headers = '') {
  const client = new RawClient(await listen(t, server))
  t.teardown(() => client.close())
  client.send(`${line}\r\nHost: app.test\r\n${headers}\r\n`)
  const answer = await client.answer(line.split(' ', 1)[0])
  return { status: answer?.status, head: answer?.head ?? '', body: answer?.body.toString() }
}

export const cookiesIn = (head: string) => valuesIn(head, /^set-cookie: (.*?)\r?$/gim)

export const cacheIn = (head: string) => valuesIn(head, /^cache-control: (.*?)\r?$/gim).join(' | ')

const valuesIn = (head: string, line: RegExp) => [...head.matchAll(line)].map(([, value]) => value)
