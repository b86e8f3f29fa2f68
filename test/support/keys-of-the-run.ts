/**
 * RSA keys take a tenth of a second each to make, and are nobody's secret here: the processes of one run
 * (test/runner) have the same, by number. One process never gets one of them twice.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateRsaKey, importRsaKey, type RsaKey } from '../../control-plane/keys/rsa-keys.ts'

/** Where the run has one; who is run alone makes its own. */
const OF_THE_RUN = process.env['TEST_RUN_FOLDER']

function kept(name: string): string | undefined {
  try {
    return OF_THE_RUN === undefined ? undefined : readFileSync(join(OF_THE_RUN, name), 'utf8')
  } catch {
    return undefined // nobody has made it yet
  }
}

/** It is there at once and whole; where two have made it, each goes on with its own. */
function keep(name: string, text: string): void {
  if (OF_THE_RUN === undefined) return
  const own = join(OF_THE_RUN, `${name}-${process.pid}`)
  writeFileSync(own, text)
  renameSync(own, join(OF_THE_RUN, name))
}

export async function ofTheRun(name: string, make: () => Promise<string>): Promise<string> {
  const known = kept(name)
  if (known !== undefined) return known
  const made = await make()
  keep(name, made)
  return made
}

/** By which a tenant signs: none of them is among those below. */
export async function tenantKey(index: number): Promise<RsaKey> {
  const make = async () => (await generateRsaKey()).privatePem
  return importRsaKey(await ofTheRun(`tenant-key-${index}`, make))
}

let given = 0

/** Another one with each call. */
export function anotherKey(): KeyObject {
  const name = `other-key-${given++}`
  const known = kept(name)
  if (known !== undefined) return createPrivateKey(known)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  keep(name, String(privateKey.export({ type: 'pkcs8', format: 'pem' })))
  return privateKey
}
