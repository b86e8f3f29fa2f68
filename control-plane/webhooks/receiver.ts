/**
 * One delivery to one receiver: everything that may go wrong there is an answer, never an exception.
 */
interface ReceiverRequest {
  /** An `https:` address that was checked when it was written; it is checked again here. */
  readonly url: string
  /** Without Host and Content-Length. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface ReceiverAnswer {
  /** undefined: nobody answered; `problem` says why. */
  readonly status: number | undefined
  /** From the first look at the name to the last byte that was read. */
  readonly milliseconds: number
  /** The beginning of what came back, for people to look at. */
  readonly firstBytes: string
  /** Empty for an answer that came whole: why there is none, in words for the tenant. */
  readonly problem: string
}

export interface ReceiverClient {
  post(request: ReceiverRequest): Promise<ReceiverAnswer>
  close(): Promise<void>
}

/** Why an address cannot be one of a webhook, in a sentence; undefined where it can. */
export type AddressCheck = (url: string) => Promise<string | undefined>
