/**
 * Whether a hostname leads to our gateways, asked as the authority will ask: plain HTTP at port 80,
 * for a token that nobody else has seen. So an authority is only troubled for what can succeed.
 */
import { randomBytes } from 'node:crypto'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import { CHALLENGE_PATH, challengeAnswer } from '../../shared/acme-challenge.ts'
import { LIMITS } from '../../shared/limits.ts'
import { AddressRefused, type ReceiverAddresses } from '../outbound/public-address.ts'

interface PreflightWorld {
  readonly thumbprint: string
  readonly signal: AbortSignal
  /** Elsewhere than where authorities ask, for tests. */
  readonly port?: number | undefined
  /** A tenant names the hostname, and must not look around in our network with it. */
  readonly addresses: Pick<ReceiverAddresses, 'find'>
  /** They lead to the control planes, and all others to gateways. */
  readonly ownHostnames?: readonly string[]
}

export function createPreflight(world: PreflightWorld) {
  const { thumbprint, signal, port = 80, addresses, ownHostnames = [] } = world
  const timeout = LIMITS.acmePreflightMsMax
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    const answer = (found: readonly string[]) => {
      const [first = ''] = found
      if (all !== true) return callback(null, first, isIP(first))
      callback(
        null,
        found.map((address) => ({ address, family: isIP(address) })),
      )
    }
    addresses.find(hostname).then(answer, (error: Error) => callback(error, ''))
  }
  const agent = new Agent({
    connect: { timeout, lookup },
    maxResponseSize: LIMITS.acmePreflightBytesMax,
    pipelining: 0,
  })

  /** undefined: it does; else what to change. */
  async function find(hostname: string): Promise<string | undefined> {
    const path = CHALLENGE_PATH + randomBytes(32).toString('base64url')
    const whom = ownHostnames.includes(hostname) ? 'the control planes' : 'the gateways'
    const origin = port === 80 ? `http://${hostname}` : `http://${hostname}:${port}`
    try {
      const { statusCode, body } = await request(origin + path, {
        dispatcher: agent,
        reset: true,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
      })
      const text = await body.text()
      if (statusCode === 200 && text.trim() === challengeAnswer(path, thumbprint)) return undefined
      return `http://${hostname}${CHALLENGE_PATH} is not answered by ${whom} (status ${statusCode}). Point the DNS records of ${hostname} to them, and let whatever is in front of them pass this path on.`
    } catch (error) {
      if (error instanceof AddressRefused)
        return `${hostname} cannot be asked: ${error.message}. Add an A or AAAA record that points to ${whom}. Networks of a company's own are opened in webhooks.allow_private.`
      return `http://${hostname}/ does not answer on port 80. Point its DNS records to ${whom}, and open port 80 for everyone.`
    }
  }

  return { find, close: () => agent.destroy() }
}
