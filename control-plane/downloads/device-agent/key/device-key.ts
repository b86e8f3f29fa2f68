/** The key of an enrolment: in the TPM where that works, else in a file. */
import * as v from 'valibot'
import type { OpenKey } from './open-key.ts'
import { FileKeySchema, makeFileKey, openFileKey } from './file-key.ts'
import { makeTpmKey, openTpmKey, TpmKeySchema, type TpmWorld } from './tpm-key.ts'

export const StoredKeySchema = v.variant('storage', [FileKeySchema, TpmKeySchema])
type StoredKey = v.InferOutput<typeof StoredKeySchema>

export const openKey = (stored: StoredKey, tpm: TpmWorld): OpenKey =>
  stored.storage === 'file' ? openFileKey(stored) : openTpmKey(stored, tpm)

/** `why`: what stood in the way of the TPM; '' where the key is in it. */
export async function makeKey(tpm: TpmWorld): Promise<{ key: StoredKey; why: string }> {
  const made = await makeTpmKey(tpm)
  return typeof made === 'string' ? { key: makeFileKey(), why: made } : { key: made, why: '' }
}
