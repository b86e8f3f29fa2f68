/**
 * How a worker asks a tenant's realm, for a sign-in or about somebody's sessions. The client is loaded
 * with the first question: it would be an eighth of all that a worker loads before it serves.
 */
import type { Dispatcher, RequestInit } from 'undici'

const CONNECT_MS_MAX = 5000
const ANSWER_MS_MAX = 10_000

export type RealmClient = ReturnType<typeof createRealmClient>

export function createRealmClient() {
  let opened: ReturnType<typeof open> | undefined
  function client() {
    opened ??= open()
    opened.catch(() => (opened = undefined)) // descriptors were short, say: the next question tries again
    return opened
  }
  return {
    async fetch(url: string, init: object) {
      const { fetch, dispatcher } = await client()
      return fetch(url, { ...(init as RequestInit), dispatcher })
    },
    async request(url: string, options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>) {
      const { request, dispatcher } = await client()
      return request(url, { ...options, dispatcher })
    },
    async close(): Promise<void> {
      const found = await opened?.catch(() => undefined)
      await found?.dispatcher.close()
    },
  }
}

async function open() {
  const { Agent, fetch, request } = await import('undici')
  const dispatcher = new Agent({
    connect: { timeout: CONNECT_MS_MAX },
    headersTimeout: ANSWER_MS_MAX,
    bodyTimeout: ANSWER_MS_MAX,
  })
  return { fetch, request, dispatcher }
}
