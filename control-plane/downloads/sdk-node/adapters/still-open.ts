/**
 * Answers and sockets of whoever was let in, for as long as they are open: an event stream, a long
 * poll, a download or a WebSocket ends with its session, and of nobody when protection begins or its
 * path is no longer open, not when the client pleases (pomerium 1279). To the application it is as if
 * the client had gone.
 */
import type { Http2ServerResponse } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { Guard, StillOpen, Forward } from '../guard.ts'
import type { Incoming, Outgoing } from './messages.ts'

const HTTP2_CANCEL = 8

/** Runs per request: one that is answered at once costs an entry and its removal. */
export function watchAnswer(
  guard: Guard,
  request: Incoming,
  response: Outgoing,
  outcome: Forward,
): void {
  if (guard.watch === undefined) return
  response.once('close', guard.watch(outcome, new OpenAnswer(request, response)))
}

export function watchSocket(guard: Guard, socket: Duplex, outcome: Forward): void {
  if (guard.watch === undefined) return
  socket.once('close', guard.watch(outcome, new OpenSocket(socket)))
}

/** The standard's body, where there is nothing else of an answer. */
export function watchBody(guard: Guard, outcome: Forward) {
  const ending = new AbortController()
  const open: StillOpen = {
    isActive: () => false,
    isOpenEnded: () => true, // of a stream of bytes nobody can tell
    isOver: () => false,
    end: () => ending.abort(),
  }
  const release = guard.watch?.(outcome, open) ?? (() => undefined)
  return {
    release,
    until(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      void body.pipeTo(writable, { signal: ending.signal }).then(release, release)
      return readable
    },
  }
}

class OpenSocket implements StillOpen {
  readonly #socket: Duplex & { readonly bytesRead?: number }
  #bytesRead = 0

  constructor(socket: Duplex) {
    this.#socket = socket
    this.isActive()
  }

  /** Frames are the application's to read: whatever its client sends counts. */
  isActive(): boolean {
    const before = this.#bytesRead
    this.#bytesRead = this.#socket.bytesRead ?? 0
    return this.#bytesRead !== before
  }

  isOpenEnded(): boolean {
    return true
  }

  isOver(): boolean {
    return this.#socket.destroyed
  }

  end(): void {
    this.#socket.destroy()
  }
}

class OpenAnswer implements StillOpen {
  readonly #request: Incoming
  readonly #response: Outgoing
  /** Of HTTP/1.1. From the start: Node takes it off a request whose body somebody left half read. */
  readonly #socket: Duplex | undefined
  readonly #upgraded: OpenSocket | undefined

  constructor(request: Incoming, response: Outgoing) {
    this.#request = request
    this.#response = response
    if (isHttp2(request)) return
    const socket: Duplex | null = request.socket ?? response.socket
    if (socket === null) return
    this.#socket = socket
    // a WebSocket that came by the framework's routes, with a response that nobody reads
    if (request.headers.upgrade !== undefined) this.#upgraded = new OpenSocket(socket)
  }

  /** An upload, a download and a wait have an end; a stream that nobody looks at has none. */
  isActive(): boolean {
    if (!this.#response.headersSent) return this.#upgraded?.isActive() ?? true
    return !this.isOpenEnded()
  }

  isOpenEnded(): boolean {
    const response = this.#response
    if (!response.headersSent) return this.#upgraded !== undefined
    const hasEnd = response.getHeader('content-length') !== undefined || !isChunked(response)
    return !hasEnd && !isUploading(this.#request)
  }

  /**
   * Of HTTP/2 only the stream knows: its request is destroyed as soon as nobody reads on. The
   * response of such a WebSocket never closes.
   */
  isOver(): boolean {
    const response = this.#response
    if (isHttp2(this.#request)) return streamOf(response)?.destroyed ?? true
    return response.writableFinished || response.destroyed || (this.#socket?.destroyed ?? true)
  }

  end(): void {
    if (isHttp2(this.#request)) streamOf(this.#response)?.close(HTTP2_CANCEL)
    else this.#socket?.destroy()
  }
}

/** Of HTTP/1.1; over HTTP/2 whatever has no length is. */
function isChunked(response: Outgoing): boolean {
  return (response as { chunkedEncoding?: boolean }).chunkedEncoding ?? true
}

/**
 * What nobody reads any longer is none. Over HTTP/2 a request counts as complete only when somebody
 * has read it to its end; whether the client has sent it, the stream knows.
 */
function isUploading(request: Incoming): boolean {
  if (request.complete || request.destroyed) return false
  return !isHttp2(request) || streamOf(request)?.state.remoteClose === 0
}

/** As the request tells: on HTTP/1.1 a property named `stream` is the application's own. */
const isHttp2 = (request: Incoming) => request.httpVersionMajor === 2

const streamOf = (message: Incoming | Outgoing) =>
  (message as unknown as Partial<Http2ServerResponse>).stream
