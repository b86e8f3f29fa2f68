/** Where the service is, and who asks. The key is a secret: it appears in no message. */

/** Put in by the bundle: the address that the program was fetched from. */
declare const BUILT_IN_BASE_URL: string | undefined

export interface AnalyzerSettings {
  readonly baseUrl: string
  readonly key: string
  readonly warnings: readonly string[]
}

/** What the person at the terminal has to set otherwise. */
export class SettingsProblem extends Error {
  readonly lines: readonly string[]

  constructor(...lines: string[]) {
    super(lines[0])
    this.lines = lines
  }
}

export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
): AnalyzerSettings {
  const baseUrl = readBaseUrl(environment['SERVICE_BASE_URL'])
  const key = environment['SERVICE_ANALYZER_KEY']?.trim() ?? ''
  if (key === '')
    throw new SettingsProblem(
      'SERVICE_ANALYZER_KEY is not set.',
      "Set it to the analyzer key, which is on your tenant's integration page: export SERVICE_ANALYZER_KEY=…",
    )
  if (!/^[\x21-\x7e]{1,512}$/.test(key))
    throw new SettingsProblem(
      'SERVICE_ANALYZER_KEY holds characters that no key has.',
      'Copy it once more, without quotes or line breaks.',
    )
  const { protocol, hostname } = new URL(baseUrl)
  const isOpen = protocol === 'http:' && !isThisMachine(hostname)
  const warning = `Warning: ${baseUrl} is not encrypted, so the key can be read on the way.`
  return { baseUrl, key, warnings: isOpen ? [warning] : [] }
}

function readBaseUrl(given: string | undefined): string {
  const builtIn = typeof BUILT_IN_BASE_URL === 'undefined' ? undefined : BUILT_IN_BASE_URL
  const text = (given?.trim() || builtIn)?.replace(/\/+$/, '')
  if (text === undefined)
    throw new SettingsProblem(
      'SERVICE_BASE_URL is not set.',
      'Set it to the address of the service: export SERVICE_BASE_URL=https://id.example.com',
    )
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === ''
  if (!isPlain)
    throw new SettingsProblem(
      'SERVICE_BASE_URL is not an address like https://id.example.com.',
      'Set it to the address of the service, without a name, a password or a query.',
    )
  return text
}

function isThisMachine(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
