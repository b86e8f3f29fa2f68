/** How options are read: each checked where it is given, and the error names it, never its value. */
import { TENANT_ID } from '../../../shared/fleet/snapshot.ts'

export function optionReaders(caller: 'enforce' | 'verifyClaims') {
  /** Without the value: somebody may have put a secret where an address belongs. */
  const wrong = (name: string, wish: string) => new TypeError(`${caller}: ${name} ${wish}`)

  /** The text as given: an issuer is compared letter by letter. */
  function httpUrl(name: string, value: unknown): string {
    const wish = 'must be an address like https://service.example.com'
    if (typeof value !== 'string' || !URL.canParse(value)) throw wrong(name, wish)
    const { protocol, username, password, search, hash } = new URL(value)
    if (protocol !== 'https:' && protocol !== 'http:') throw wrong(name, wish)
    if (username !== '' || password !== '' || search !== '' || hash !== '')
      throw wrong(name, `${wish}, without credentials, query or fragment`)
    return value
  }

  function func<Wanted>(name: string, value: Wanted | undefined): Wanted | undefined {
    if (value !== undefined && typeof value !== 'function') throw wrong(name, 'must be a function')
    return value
  }

  return {
    wrong,
    httpUrl,
    func,

    known(options: object, names: readonly string[]): void {
      if (typeof options !== 'object' || options === null)
        throw wrong('options', 'must be an object')
      for (const name of Object.keys(options))
        if (!names.includes(name))
          throw wrong(name, `is not an option; known options: ${names.join(', ')}`)
    },

    baseUrl(value: unknown): string {
      if (value === undefined || value === '')
        throw wrong('baseUrl', 'is missing: give it, or set SERVICE_BASE_URL')
      return httpUrl('baseUrl', value).replace(/\/+$/, '')
    },

    tenantId(value: unknown): string {
      if (value === undefined || value === '')
        throw wrong('tenantId', 'is missing: give it, or set SERVICE_TENANT_ID')
      if (typeof value !== 'string' || !TENANT_ID.test(value))
        throw wrong('tenantId', 'must be a tenant ID: lowercase letters, digits and dashes')
      return value
    },

    /** Whatever the application does with a warning, nothing of it comes back to us. */
    warning(value: ((message: string) => void) | undefined): (message: string) => void {
      const tell = func('onWarning', value) ?? warnProcess
      return (message) => {
        try {
          tell(message)
        } catch {
          // it was told
        }
      }
    },
  }
}

function warnProcess(message: string): void {
  process.emitWarning(message, { code: 'SERVICE_NODE' })
}
