/** What an agent asks of the control plane, and how an answer that is none is to be taken. */
import * as v from 'valibot'
import { DEVICE_MESSAGES } from '../../../../shared/device/messages.ts'
import {
  CheckInAnswer,
  CodeAnswer,
  EnrolAnswer,
  NonceAnswer,
  ProveAnswer,
  type AskCode,
  type CheckIn,
  type Enrol,
  type Prove,
} from '../../../../shared/device/messages.ts'
import { exchange, exchangeBytes, ExchangeError, jsonOf } from '../../resident/exchange.ts'
import type { ProblemCode } from '../../command-line/exit.ts'
import type { Proxies } from '../../resident/proxies.ts'
import { notTheService, refusalOf, unreachable } from '../../resident/refusals.ts'
import type { OpenKey } from '../key/open-key.ts'
import { signedAs } from '../signed.ts'

/** It was asked and said no, by this code; or it wants to be asked later. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  /** Seconds, if it has named any. */
  readonly retryAfterS: number | undefined

  constructor(status: number, code: string, retryAfterS: number | undefined) {
    super(code)
    this.status = status
    this.code = code
    this.retryAfterS = retryAfterS
  }
}

interface Signing {
  readonly deviceId: string
  readonly key: OpenKey
  readonly signal?: AbortSignal | undefined
}

export type AgentService = ReturnType<typeof createAgentService>

const NAMED: Readonly<Record<string, ProblemCode>> = {
  device_ticket_invalid: 'ticket_refused',
  device_refused: 'device_refused',
}

/** The program is large beside any other answer. */
const PROGRAM_BYTES_MAX = 16 * 1024 * 1024

export function createAgentService({ baseUrl, proxies }: { baseUrl: string; proxies: Proxies }) {
  const urlOf = (path: string) => new URL(`${baseUrl}${path}`)

  async function post(
    path: string,
    text: string,
    options: { readonly bearer?: string; readonly signal?: AbortSignal | undefined } = {},
  ) {
    const headers = { accept: 'application/json', 'content-type': 'application/jose' }
    const asked = { url: urlOf(path), method: 'POST', text, headers, proxies, ...options } as const
    const { status, bytes, retryAfter } = await exchangeBytes(asked)
    return { status, body: jsonOf(bytes), retryAfter }
  }

  async function signed<Schema extends v.GenericSchema>(
    path: string,
    type: string,
    payload: object,
    { deviceId, key, signal }: Signing,
    schema: Schema,
  ): Promise<v.InferOutput<Schema>> {
    const text = await signedAs({ typ: type, kid: deviceId }, payload, key.sign)
    const answer = await post(`/agent/v1/${path}`, text, { signal })
    const read = v.safeParse(schema, answer.body)
    if (answer.status >= 200 && answer.status < 300 && read.success) return read.output
    throw refused(answer)
  }

  return {
    baseUrl,
    /** Says what is wrong as a person is told it. */
    async enrol(
      ticket: string,
      wish: Enrol,
      key: OpenKey,
    ): Promise<v.InferOutput<typeof EnrolAnswer>> {
      const header = { typ: DEVICE_MESSAGES.enrol, jwk: key.publicKey }
      const text = await signedAs(header, wish, key.sign)
      try {
        const answer = await post('/agent/v1/enroll', text, { bearer: ticket })
        const read = v.safeParse(EnrolAnswer, answer.body)
        if (answer.status < 300 && read.success) return read.output
        if (answer.status < 300) throw notTheService(baseUrl, answer.status)
        throw refusalOf({ baseUrl, named: NAMED }, answer)
      } catch (error) {
        throw error instanceof ExchangeError ? unreachable(baseUrl, error) : error
      }
    },
    checkIn: (payload: CheckIn, signing: Signing) =>
      signed('checkin', DEVICE_MESSAGES.checkIn, payload, signing, CheckInAnswer),
    prove: (payload: Prove, signing: Signing) =>
      signed('prove', DEVICE_MESSAGES.prove, payload, signing, ProveAnswer),
    code: (payload: AskCode, signing: Signing) =>
      signed('code', DEVICE_MESSAGES.code, payload, signing, CodeAnswer),
    leave: (payload: Pick<CheckIn, 'prev' | 'ctr' | 'boot_id'>, signing: Signing) =>
      signed('leave', DEVICE_MESSAGES.leave, payload, signing, v.nullable(v.unknown())),
    async nonce(deviceId: string, signal?: AbortSignal): Promise<string> {
      const url = urlOf('/agent/v1/nonce')
      const answer = await exchange({ url, body: { device_id: deviceId }, proxies, signal })
      const read = v.safeParse(NonceAnswer, answer.body)
      if (answer.status === 200 && read.success) return read.output.nonce
      throw refused({ ...answer, retryAfter: undefined })
    },
    /** As it stands; `bytesMax` and its hash are checked by who knows them. */
    async fetchFile(path: string): Promise<Buffer> {
      const headers = { accept: '*/*' }
      const asked = { url: urlOf(path), method: 'GET', text: '', headers, proxies } as const
      const { status, bytes, retryAfter } = await exchangeBytes({
        ...asked,
        bytesMax: PROGRAM_BYTES_MAX,
      })
      if (status === 200) return bytes
      throw refused({ status, body: jsonOf(bytes), retryAfter })
    },
  }
}

const RefusalSchema = v.object({ error: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,59}$/)) })

function refused(answer: { status: number; body: unknown; retryAfter: string | undefined }) {
  const read = v.safeParse(RefusalSchema, answer.body)
  const { retryAfter = '' } = answer
  const seconds = /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined
  return new Refused(answer.status, read.success ? read.output.error : '', seconds)
}
