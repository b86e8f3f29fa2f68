/** What a connection is made of, in a form: the same for a new one and for one that is changed. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { LIMITS } from '../../../../shared/limits.ts'
import type { Connection } from '../../../connections/connections.ts'
import { offersSignOut } from '../../../connections/presets.ts'
import { checkField, linesField, textField, type Attempt } from '../../../pages/blocks/field.ts'
import type { Html } from '../../../pages/html.ts'
import { NewConnectionBody } from '../../../requests/connection-fields.ts'
import { attributeLines, attributesIn } from '../people/attribute-lines.ts'
import { groupsField } from './group-lines.ts'
import { GUIDANCE } from './guidance.ts'

export const EDIT_FORM = {
  name: 'text',
  issuer: 'text',
  client_id: 'text',
  client_secret: 'optional_secret',
  hosted_domain: 'nullable',
  organization: 'nullable',
  signs_out: 'flag',
  creates_people: 'flag',
  mfa_values: 'lines',
  attribute_claims: 'text',
  groups_claim: 'nullable',
  groups: 'text',
} as const
export const NEW_FORM = { ...EDIT_FORM, preset: 'text', client_secret: 'secret' } as const

export function connectionFields(
  preset: Connection['preset'],
  attempt: Attempt | undefined,
  known?: Connection,
): Html {
  const { issuer, issuerHint } = GUIDANCE[preset]
  const charactersMax = LIMITS.connectionFieldCharactersMax
  return html`
    ${nameField(known, attempt)}
    ${textField({
      name: 'issuer',
      label: 'Issuer',
      type: 'url',
      hint: issuerHint,
      charactersMax,
      value: known?.issuer ?? issuer,
      attempt,
    })}
    ${textField({ name: 'client_id', label: 'Client ID', charactersMax, value: known?.clientId, attempt })}
    ${textField({
      name: 'client_secret',
      label: 'Client secret',
      type: 'password',
      hint: known === undefined ? 'Never shown again.' : 'Leave empty to keep the present one.',
      autocomplete: 'new-password',
      charactersMax: LIMITS.connectionSecretCharactersMax,
      isOptional: known !== undefined,
      attempt,
    })}
    ${
      preset === 'google'
        ? textField({
            name: 'hosted_domain',
            label: 'Google Workspace domain',
            hint: 'Only accounts of this domain can sign in, for example acme.com.',
            charactersMax,
            value: known?.hostedDomain ?? undefined,
            attempt,
          })
        : ''
    }
    ${
      preset === 'github'
        ? textField({
            name: 'organization',
            label: 'Organization',
            hint: 'Only its members can sign in. On github.com you can leave it empty only if new people get no account. If you rename it on GitHub, change it here and test again: until then nobody can sign in.',
            charactersMax,
            isOptional: true,
            value: known?.organization ?? undefined,
            attempt,
          })
        : ''
    }
    ${checkField({
      name: 'creates_people',
      label: 'Create an account when someone signs in for the first time',
      isOn: known?.createsPeople ?? true,
      attempt,
    })}
    ${
      offersSignOut(preset)
        ? checkField({
            name: 'signs_out',
            label: 'Sign people out at the provider as well when they sign out here',
            isOn: known?.signsOut ?? false,
            attempt,
          })
        : ''
    }
    ${
      preset === 'github'
        ? ''
        : linesField({
            name: 'mfa_values',
            label: 'Values that count as a second factor',
            hint: 'One per line, of the claims amr or acr. Leave empty to always ask for our own.',
            isOptional: true,
            value: known?.mfaValues.join('\n'),
            attempt,
          })
    }
    ${attributesField(known, attempt)}
    ${preset === 'github' ? '' : groupFields(known, attempt)}
  `
}

const groupFields = (known: Connection | undefined, attempt: Attempt | undefined): Html => html`
  ${textField({
    name: 'groups_claim',
    label: 'Groups claim',
    hint: 'The claim of the ID token that names groups, often “groups”. Leave empty to manage groups here.',
    charactersMax: LIMITS.connectionFieldCharactersMax,
    isOptional: true,
    value: known?.groupsClaim ?? undefined,
    attempt,
  })}
  ${groupsField(known, attempt)}
`

const MAPPED_LINES = 'one per line, as ATTRIBUTE = CLAIM'

/** `department = dept`: ours, then what the provider calls it, which may hold equals signs. */
export const mappedLines = v.pipe(
  v.string(),
  v.transform((text) =>
    attributesIn(text).map(({ name, value }) => ({ attribute: name, claim: value })),
  ),
  v.check(
    (all) => v.is(NewConnectionBody.entries.attributes.wrapped, all),
    `${MAPPED_LINES}, each attribute once and in lower-case letters`,
  ),
)

/** A form whose field is called `attributes` has no other ones to any script, so it is called otherwise. */
export const withAttributes = <Body extends { readonly attribute_claims: unknown }>({
  attribute_claims: attributes,
  ...body
}: Body) => ({ ...body, attributes: attributes as Body['attribute_claims'] })

export const attributesField = (
  known: Pick<Connection, 'attributes'> | undefined,
  attempt?: Attempt,
): Html =>
  linesField({
    name: 'attribute_claims',
    label: 'Attributes for access rules',
    hint: 'One per line: the attribute here, an equals sign, and what the provider calls it. For example: department = dept. They are read at each sign-in.',
    isOptional: true,
    value: attributeLines(
      (known?.attributes ?? []).map(({ attribute, claim }) => ({ name: attribute, value: claim })),
    ),
    attempt,
  })

/** Of whichever kind it is. */
export const nameField = (known: { readonly name: string } | undefined, attempt?: Attempt): Html =>
  textField({
    name: 'name',
    label: 'Name',
    hint: 'On the button: “Continue with …”.',
    charactersMax: LIMITS.connectionNameCharactersMax,
    value: known?.name,
    attempt,
  })
