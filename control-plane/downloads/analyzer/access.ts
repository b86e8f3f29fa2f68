/** The service as one call sees it: where it is, and with which key; asked for when it is needed. */
import { createApi, type Api } from './api.ts'
import type { Profile } from './profile.ts'
import {
  checkedKey,
  keyInEnvironment,
  keyMissing,
  openWarning,
  readBaseUrl,
  type BaseUrl,
  type Environment,
} from './settings.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface KnownKey {
  readonly text: string
  readonly from: 'SERVICE_ANALYZER_KEY' | 'profile' | 'prompt'
}

export interface Access {
  baseUrl(): BaseUrl
  /** null: none is known; nobody is asked. */
  knownKey(): Promise<KnownKey | null>
  /** With the key that is known, or that somebody enters now. */
  api(): Promise<Api>
  apiIfKeyKnown(): Promise<Api | null>
  apiWith(key: string | null): Api
}

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

export function createAccess(world: AccessWorld): Access {
  const { environment, terminal, profile } = world
  let known: KnownKey | null = null
  let hasWarned = false

  return { baseUrl, knownKey, api, apiIfKeyKnown, apiWith }

  function baseUrl(): BaseUrl {
    return readBaseUrl(environment)
  }

  async function knownKey(): Promise<KnownKey | null> {
    known ??= await findKey()
    if (known !== null) world.hide(known.text)
    return known
  }

  async function findKey(): Promise<KnownKey | null> {
    const given = keyInEnvironment(environment)
    if (given !== null) return { text: given, from: 'SERVICE_ANALYZER_KEY' }
    const saved = await profile.read(baseUrl().text)
    return saved && { text: checkedKey(saved.key, 'The saved profile'), from: 'profile' }
  }

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

  async function apiIfKeyKnown(): Promise<Api | null> {
    const key = await knownKey()
    return key && apiWith(key.text)
  }

  function apiWith(key: string | null): Api {
    const base = baseUrl()
    if (base.isOpen && key !== null && !hasWarned) world.warn(openWarning(base))
    hasWarned ||= base.isOpen && key !== null
    const { nodeVersion, fetch } = world
    return createApi({ baseUrl: base.text, key, environment, nodeVersion, fetch })
  }
}
