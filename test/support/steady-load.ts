/** Clients that ask on and on over kept connections and count every request that was not answered. */
import { connect, type Socket } from 'node:net'

export interface SteadyLoadOptions {
  readonly port: number
  readonly requests: number
  readonly clients: number
  /** A whole request head, its empty line included. */
  readonly head: string
  readonly status: number
}

export interface SteadyLoad {
  readonly failures: string[]
  answered(): number
  /** Connections that the gateway asked to leave. */
  closed(): number
  /** Asks no further. */
  stop(): void
  readonly done: Promise<void>
}

export function startSteadyLoad(options: SteadyLoadOptions): SteadyLoad {
  const { port, requests, clients, head, status } = options
  const failures: string[] = []
  let begun = 0
  let answered = 0
  let closed = 0
  let isStopped = false

  async function client() {
    let connection: Connection | undefined
    while (begun < requests && !isStopped) {
      begun++
      try {
        connection ??= await Connection.open(port)
        const answer = await connection.ask(head)
        if (answer.status !== status) failures.push(`status ${answer.status}`)
        answered++
        if (!answer.staysOpen) {
          closed++
          connection.close()
          connection = undefined
        }
      } catch (error) {
        failures.push((error as Error).message)
        connection?.close()
        connection = undefined
      }
    }
    connection?.close()
  }

  return {
    failures,
    answered: () => answered,
    closed: () => closed,
    stop: () => void (isStopped = true),
    done: Promise.all(Array.from({ length: clients }, client)).then(() => {}),
  }
}

interface Answer {
  readonly status: number
  readonly staysOpen: boolean
}

class Connection {
  readonly #socket: Socket
  #received = ''
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
  #end: Error | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#hear(chunk))
    socket.on('end', () => this.#fail(new Error('ended without an answer')))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('closed without an answer')))
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', (error) => reject(new Error(`connect: ${error.message}`)))
      socket.once('connect', () => {
        socket.removeAllListeners('error')
        resolve(new Connection(socket))
      })
    })
  }

  ask(head: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end)
      this.#waiting = { resolve, reject }
      this.#socket.write(head)
    })
  }

  #hear(chunk: Buffer) {
    this.#received += chunk.toString('latin1')
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const head = this.#received.slice(0, headEnd)
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? NaN)
    if (Number.isNaN(length)) return this.#fail(new Error(`no length: ${head}`))
    const end = headEnd + 4 + length
    if (this.#received.length < end) return
    this.#received = this.#received.slice(end)
    const staysOpen = !/^connection: close$/im.test(head)
    this.#waiting?.resolve({ status: Number(head.slice(9, 12)), staysOpen })
    this.#waiting = undefined
  }

  #fail(error: Error) {
    this.#end ??= error
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }

  close() {
    this.#socket.destroy()
  }
}
