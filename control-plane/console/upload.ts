/**
 * A form that brings a file along: a `file` becomes text, a picture base64, and the rest is read
 * like any other form. Other fields take no file.
 */
import { Refusal } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/limits.ts'
import { readSentForm, tooManyFields, type FormShape, type SentForm } from './form-values.ts'

/** What is no UTF-8 is refused: a reader that guesses would change names. */
export async function readUpload(
  bytes: Uint8Array,
  contentType: string,
  shape: FormShape,
): Promise<SentForm> {
  const unreadable = new Refusal('media_type_unsupported', {}, 'The form could not be read.')
  if (partsAtMost(bytes) > LIMITS.formFieldsMax) throw tooManyFields()
  const body = Uint8Array.from(bytes)
  const sent = await new Response(body, { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => Promise.reject(unreadable))
  const fields = new URLSearchParams()
  for (const [name, value] of sent) {
    if (typeof value === 'string') fields.append(name, value)
    else if (name !== 'file' && shape[name] !== 'picture')
      throw new Refusal('field_invalid', { field: name.slice(0, 100) }, 'This field takes no file.')
    else if (value.size > 0) {
      const content = Buffer.from(await value.arrayBuffer())
      fields.append(name, shape[name] === 'picture' ? content.toString('base64') : textOf(content))
    }
  }
  return readSentForm(fields.toString(), shape)
}

/** No part is without this header; a file that speaks of it counts, too. */
function partsAtMost(bytes: Uint8Array): number {
  return Buffer.from(bytes).toString('latin1').toLowerCase().split('content-disposition').length - 1
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new Refusal(
      'field_invalid',
      { field: 'file' },
      'The file is not UTF-8. Save it as UTF-8 and try again.',
    )
  }
}
