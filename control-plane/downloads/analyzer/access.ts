/** The service as one call sees it: where it is, and with which key; asked for when it is needed. */
import { createApi, type Api } from './api.ts'
import type { Profile } from './profile.ts'
import { readBaseUrl, type BaseUrl, type Environment } from '../command-line/base-url.ts'
import { checkedKey, keyMissing } from './key.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface KnownKey {
  readonly text: string
  readonly from: 'SERVICE_ANALYZER_KEY' | 'profile' | 'prompt' | 'browser'
}

export type Access = ReturnType<typeof createAccess>

interface AccessWorld {
  readonly environment: Environment
  readonly nodeVersion: string
  readonly fetch: typeof fetch
  readonly terminal: Terminal
  readonly profile: Profile
  readonly warn: (text: string) => void
  /** Is told every key, so that it is shown nowhere. */
  readonly hide: (key: string) => void
}

export function createAccess(world: AccessWorld) {
  const { environment, terminal, profile } = world
  let known: KnownKey | null = null
  let hasWarned = false

  return { baseUrl, knownKey, api, apiIfKeyKnown, apiWith, useKey }

  function baseUrl(): BaseUrl {
    return readBaseUrl(environment)
  }

  /** null: none is known; nobody is asked. */
  async function knownKey(): Promise<KnownKey | null> {
    known ??= await findKey()
    if (known !== null) world.hide(known.text)
    return known
  }

  async function findKey(): Promise<KnownKey | null> {
    const from = 'SERVICE_ANALYZER_KEY'
    const given = environment[from]?.trim() ?? ''
    if (given !== '') return { text: checkedKey(given, from), from }
    const saved = await profile.read(baseUrl().text)
    return saved && { text: checkedKey(saved.key, 'The saved profile'), from: 'profile' }
  }

  /** With the key that is known, or that somebody enters now. */
  async function api(): Promise<Api> {
    const { text } = baseUrl() // before anybody is asked for anything
    if ((await knownKey()) === null) {
      if (!terminal.isInteractive) throw keyMissing()
      terminal.remark(`The analyzer key of your tenant is on its integration page at ${text}.`)
      const entered = (await terminal.askSecret('Analyzer key (not shown):')).trim()
      if (entered === '') throw keyMissing()
      known = { text: checkedKey(entered, 'What was entered'), from: 'prompt' }
      world.hide(known.text)
    }
    return apiWith(known?.text ?? null)
  }

  /** Of a sign-in in the browser: goes before what was known. */
  function useKey(text: string): void {
    known = { text: checkedKey(text, 'What the service handed out'), from: 'browser' }
    world.hide(text)
  }

  async function apiIfKeyKnown(): Promise<Api | null> {
    const key = await knownKey()
    return key && apiWith(key.text)
  }

  function apiWith(key: string | null): Api {
    const base = baseUrl()
    if (base.isOpen && key !== null && !hasWarned) {
      world.warn(`Warning: ${base.text} is not encrypted, so the key could be intercepted.`)
      hasWarned = true
    }
    const { nodeVersion, fetch } = world
    return createApi({ baseUrl: base.text, key, environment, nodeVersion, fetch })
  }
}
