/** Whether a text that we have given somebody is found in a TXT record: it shows that a name is theirs. */
import { Resolver } from 'node:dns/promises'

/** `unknown`: nobody could say. */
export type RecordState = 'there' | 'gone' | 'unknown'
export type ResolveTxt = (name: string) => Promise<readonly (readonly string[])[]>
export type TxtProofs = ReturnType<typeof createTxtProofs>

export function createTxtProofs(timeoutMs: number, asked?: ResolveTxt) {
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 2), tries: 2 })
  const resolveTxt = asked ?? ((name: string) => resolver.resolveTxt(name))

  async function isIn(recordName: string, proof: string): Promise<boolean> {
    const records = await resolveTxt(recordName)
    return records.some((parts) => parts.join('') === proof)
  }

  return {
    /** Rejects where no name server says anything. */
    isIn,

    /** A name server that does not answer says nothing. */
    async state(recordName: string, proof: string): Promise<RecordState> {
      try {
        return (await isIn(recordName, proof)) ? 'there' : 'gone'
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        return ['ENOTFOUND', 'ENODATA'].includes(code) ? 'gone' : 'unknown'
      }
    },

    close: () => resolver.cancel(),
  }
}
