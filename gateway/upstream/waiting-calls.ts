/** Calls that wait for a connection: in order for each client, and the clients in turn. */
import type { PooledCall } from './pooled-call.ts'

export class WaitingCalls {
  size = 0
  /** In the order of their turns. */
  readonly #byClient = new Map<string, PooledCall[]>()

  countOf(client: string): number {
    return this.#byClient.get(client)?.length ?? 0
  }

  add(call: PooledCall): void {
    const calls = this.#byClient.get(call.client)
    if (calls === undefined) this.#byClient.set(call.client, [call])
    else calls.push(call)
    this.size++
  }

  delete(call: PooledCall): void {
    const calls = this.#byClient.get(call.client)
    const index = calls?.indexOf(call) ?? -1
    if (index === -1) return
    calls!.splice(index, 1)
    if (calls!.length === 0) this.#byClient.delete(call.client)
    this.size--
  }

  /** The first call of the next client that may have one; that client's next turn is the last. */
  next(mayHave: (call: PooledCall) => boolean): PooledCall | undefined {
    for (const [client, calls] of this.#byClient) {
      const call = calls[0]!
      if (!mayHave(call)) continue
      calls.shift()
      this.#byClient.delete(client)
      if (calls.length > 0) this.#byClient.set(client, calls)
      this.size--
      return call
    }
    return undefined
  }

  takeAll(): PooledCall[] {
    const all = [...this.#byClient.values()].flat()
    this.#byClient.clear()
    this.size = 0
    return all
  }
}
