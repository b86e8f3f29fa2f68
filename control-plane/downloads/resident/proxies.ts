/** Which way out there is: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, as curl reads them. */
import { BlockList, isIP, isIPv6 } from 'node:net'
import { Problem } from '../command-line/exit.ts'
import type { Environment } from '../command-line/base-url.ts'

export interface Target {
  readonly isSecure: boolean
  /** Without brackets. */
  readonly host: string
  readonly port: number
}

/** undefined: straight. */
export type Proxies = (to: Target) => URL | undefined

export function readProxies(environment: Environment): Proxies {
  const read = (name: string) =>
    [name.toLowerCase(), name].flatMap((spelling) => {
      const text = environment[spelling]?.trim() ?? ''
      return text === '' ? [] : [{ spelling, text }]
    })[0]
  const proxyIn = (name: string) => {
    const found = read(name) ?? read('ALL_PROXY')
    return found === undefined ? undefined : parse(found.spelling, found.text)
  }
  const secure = proxyIn('HTTPS_PROXY')
  const plain = proxyIn('HTTP_PROXY')
  const exceptions = (read('NO_PROXY')?.text ?? '').split(/[\s,]+/).filter((one) => one !== '')
  const isExcepted = exceptionsOf(exceptions)
  return (to) => (isExcepted(to) ? undefined : to.isSecure ? secure : plain)
}

/** What it holds is a secret: only the variable is named. */
function parse(variable: string, text: string): URL {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(whole) ? new URL(whole) : undefined
  const isProxy = url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== ''
  if (isProxy && isDecodable(url.username + url.password)) return url
  throw new Problem(
    'proxy_invalid',
    `${variable} is not the address of an HTTP proxy.`,
    'Set it like this: http://user:password@proxy.example:3128 (SOCKS is not supported). In a password, write % as %25 and @ as %40.',
  )
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined
  } catch {
    return false
  }
}

function exceptionsOf(exceptions: readonly string[]): (to: Target) => boolean {
  const networks = new BlockList()
  const names: { readonly name: string; readonly port: number | undefined }[] = []
  for (const text of exceptions) {
    const [, network = '', bits = ''] = /^\[?([0-9a-f.:]+)\]?\/(\d{1,3})$/i.exec(text) ?? []
    const family = isIPv6(network) ? 'ipv6' : 'ipv4'
    if (isIP(network) !== 0 && Number(bits) <= (family === 'ipv6' ? 128 : 32)) {
      networks.addSubnet(network, Number(bits), family)
      continue
    }
    const literal = text.replace(/^\[(.*)\]$/, '$1')
    const [, name = literal, port] =
      isIP(literal) !== 0 ? [] : (/^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(text) ?? [])
    names.push({
      name: name.toLowerCase().replace(/^\*?\./, ''),
      port: port === undefined ? undefined : Number(port),
    })
  }
  const isAll = exceptions.includes('*')
  return ({ host, port }) => {
    const asked = host.toLowerCase()
    const family = isIP(asked)
    if (isAll || (family !== 0 && networks.check(asked, family === 6 ? 'ipv6' : 'ipv4')))
      return true
    return names.some(
      (one) =>
        (one.port === undefined || one.port === port) &&
        (asked === one.name || (family === 0 && asked.endsWith(`.${one.name}`))),
    )
  }
}
