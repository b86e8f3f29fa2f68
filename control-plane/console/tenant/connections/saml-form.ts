/** What a SAML connection is made of, in a form. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import { groupLines, groupsField } from './group-lines.ts'
import { attributesField, mappedLines, nameField, withAttributes } from './connection-form.ts'
import type { SamlConnection } from '../../../connections/saml/saml-connections.ts'
import {
  checkField,
  fileField,
  linesField,
  textField,
  type Attempt,
} from '../../../pages/blocks/field.ts'
import type { Html } from '../../../pages/html.ts'
import { NewSamlBody } from '../../../requests/saml-fields.ts'

export const SAML_FORM = {
  name: 'text',
  metadata_url: 'nullable',
  file: 'optional',
  metadata: 'nullable',
  subject_attribute: 'nullable',
  email_attribute: 'nullable',
  name_attribute: 'nullable',
  groups_attribute: 'nullable',
  groups: 'text',
  creates_people: 'flag',
  mfa_values: 'lines',
  attribute_claims: 'text',
  signs_requests: 'flag',
} as const

const { metadata } = NewSamlBody.entries

const { attributes: _ofBody, ...FIELDS } = NewSamlBody.entries

export const SamlFormBody = v.pipe(
  v.strictObject({
    ...FIELDS,
    file: v.optional(metadata),
    groups: groupLines,
    attribute_claims: mappedLines,
  }),
  v.transform(withAttributes),
)

type Sent = v.InferOutput<typeof SamlFormBody>

/** A file goes before what was pasted. What an address says goes on, unless there is something new. */
export function metadataIn(
  { file, metadata, metadata_url: metadataUrl }: Sent,
  known?: Pick<SamlConnection, 'metadataUrl'>,
) {
  const uploaded = file ?? metadata
  const isKnown = known !== undefined && metadataUrl === known.metadataUrl
  if (isKnown) return uploaded === null ? {} : { metadata: uploaded }
  return { metadata: uploaded, metadata_url: metadataUrl }
}

export function samlFields(attempt: Attempt | undefined, known?: SamlConnection): Html {
  const charactersMax = LIMITS.connectionFieldCharactersMax
  const attribute = (
    name: 'subject_attribute' | 'email_attribute' | 'name_attribute' | 'groups_attribute',
    label: string,
    hint: string,
    value: string | null | undefined,
  ) =>
    textField({
      ...{ name, label, hint, charactersMax, value: value ?? undefined, attempt },
      isOptional: true,
    })
  const stays = known === undefined ? '' : ' Leave empty to keep what is known.'
  return html`
    ${nameField(known, attempt)}
    ${textField({
      name: 'metadata_url',
      label: 'Metadata address',
      type: 'url',
      hint: 'Starts with https://. Read again every day, so new certificates arrive by themselves.',
      ...{ charactersMax, isOptional: true, value: known?.metadataUrl ?? undefined, attempt },
    })}
    ${fileField({
      name: 'file',
      label: 'Or a metadata file',
      hint: `The XML file that you downloaded from the provider.${stays}`,
      accept: '.xml,text/xml,application/xml,application/samlmetadata+xml',
      ...{ isOptional: true, attempt },
    })}
    ${linesField({
      name: 'metadata',
      label: 'Or paste the metadata',
      hint: `Begins with <EntityDescriptor.${stays}`,
      ...{ rows: 4, isOptional: true, value: '', attempt },
    })}
    ${attribute(
      'subject_attribute',
      'Identifying attribute',
      'The name of an attribute that never changes and never passes to another person, such as an object ID. Never an email address. Leave empty for a persistent NameID.',
      known?.subjectAttribute,
    )}
    ${attribute('email_attribute', 'Email attribute', 'Leave empty for the usual names, such as email or mail.', known?.emailAttribute)}
    ${attribute('name_attribute', 'Name attribute', 'Leave empty for the usual names, such as displayName.', known?.nameAttribute)}
    ${attribute('groups_attribute', 'Groups attribute', 'Leave empty to manage groups here.', known?.groupsAttribute)}
    ${groupsField(known, attempt)}
    ${checkField({
      name: 'creates_people',
      label: 'Create an account when someone signs in for the first time',
      isOn: known?.createsPeople ?? true,
      attempt,
    })}
    ${linesField({
      name: 'mfa_values',
      label: 'Values that count as a second factor',
      hint: 'One per line, of AuthnContextClassRef. Leave empty to always ask for our own.',
      isOptional: true,
      value: known?.mfaValues.join('\n'),
      attempt,
    })}
    ${attributesField(known, attempt)}
    ${checkField({
      name: 'signs_requests',
      label: 'Sign sign-in requests',
      hint: 'Only if your provider asks for it. The certificate is in our metadata.',
      isOn: known?.signsRequests ?? false,
      attempt,
    })}
  `
}
