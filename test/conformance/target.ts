/** Somewhere that decisions are enforced: bytes in, and what came back and what got through. */
import type { Test } from 'tap'
import { RawClient } from '../support/wire.ts'

export type T = Pick<Test, 'teardown'>

export interface Target {
  readonly name: string
  readonly port: number
  /** Whatever got through, so far. */
  readonly arrivals: Arrivals
  /** Sends these bytes on a connection of their own. */
  ask(text: string): Promise<Heard>
  /**
   * Where a framework takes requests apart before anybody is asked: the request that it leaves of
   * this one, undefined where it leaves none.
   */
  leftOf?(text: string): string | undefined
}

export interface Heard {
  /** 0: the connection was closed without an answer. */
  readonly status: number
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** What got through to the application. */
  readonly arrived: readonly Arrival[]
}

/** One request, as the application was shown it. */
export interface Arrival {
  readonly method: string
  readonly target: string
  /** Lines as they stand, then what the framework itself makes of them. */
  readonly rawHeaders: readonly string[]
  readonly shown: Readonly<Record<string, unknown>>
  /** Whom the middleware says that the user is; undefined where there is no middleware. */
  readonly user: string | null | undefined
}

/** What an application that answers everything with `ok` was asked. */
export type Arrivals = Arrival[]

/** Adds the way over the wire: `arrivals` is what the application behind `port` writes down. */
export function overWire(port: number, arrivals: Arrivals) {
  return async (text: string): Promise<Heard> => {
    const before = arrivals.length
    const client = new RawClient(port)
    client.send(text)
    const answer = await client.answer(/^[!-~]+/.exec(text)?.[0])
    client.close()
    const lines = (answer?.head ?? '').split('\r\n').slice(1)
    return {
      status: answer?.status ?? 0,
      headers: lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
      body: answer?.body.toString('utf8') ?? '',
      arrived: arrivals.slice(before),
    }
  }
}
