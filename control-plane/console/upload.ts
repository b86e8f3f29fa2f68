/** A form that brings a file along: the file becomes text, and the rest is read like any other form. */
import { Refusal } from '../../shared/errors.ts'
import { readSentForm, type FormShape, type SentForm } from './form-values.ts'

/** What is no UTF-8 is refused: a reader that guesses would change names. */
export async function readUpload(
  bytes: Uint8Array,
  contentType: string,
  shape: FormShape,
): Promise<SentForm> {
  const unreadable = new Refusal('media_type_unsupported', {}, 'The form could not be read.')
  const body = Uint8Array.from(bytes)
  const sent = await new Response(body, { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => Promise.reject(unreadable))
  const fields = new URLSearchParams()
  for (const [name, value] of sent) {
    if (typeof value === 'string') fields.append(name, value)
    else if (value.size > 0) fields.append(name, textOf(new Uint8Array(await value.arrayBuffer())))
  }
  return readSentForm(fields.toString(), shape)
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new Refusal(
      'field_invalid',
      { field: 'file' },
      'The file is not UTF-8. Save it as "CSV UTF-8" and try again.',
    )
  }
}
