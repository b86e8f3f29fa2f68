/** Attributes of people, as they are sent and answered; and which claims of a provider are which. */
import * as v from 'valibot'
import {
  ATTRIBUTE_NAME,
  ATTRIBUTE_NAME_WISH,
  ATTRIBUTE_VALUE_WISH,
  isAttributeValue,
} from '../../shared/fleet/access-rules.ts'
import { LIMITS } from '../../shared/limits.ts'
import { described, time } from './described.ts'
import { text } from './fields.ts'

const { attributesPerPersonMax: most, connectionAttributesMax: mappedMax } = LIMITS
const ALL_WISH = `a list of at most ${most} attributes with a name and a value, each once`
const MAPPED_WISH = `a list of at most ${mappedMax} objects with an attribute and a claim, each attribute once`

const name = v.pipe(v.string(ATTRIBUTE_NAME_WISH), v.regex(ATTRIBUTE_NAME, ATTRIBUTE_NAME_WISH))
const value = v.pipe(
  v.string(ATTRIBUTE_VALUE_WISH),
  v.maxLength(LIMITS.attributeValueCharactersMax, ATTRIBUTE_VALUE_WISH),
  v.check(isAttributeValue, ATTRIBUTE_VALUE_WISH),
)
const areApart = (all: readonly unknown[]) =>
  new Set(all.map((one) => JSON.stringify(one))).size === all.length

export const AttributesBody = v.strictObject({
  attributes: v.pipe(
    v.array(v.strictObject({ name, value }, ALL_WISH), ALL_WISH),
    v.maxLength(most, ALL_WISH),
    v.check((all) => areApart(all.map((one) => [one.name, one.value])), ALL_WISH),
  ),
})

export const AttributeAnswer = v.strictObject({
  name: v.string(),
  value: v.string(),
  source: described(
    v.string(),
    '`local`: by an administrator. `scim`: pushed by a provider. `connection`: at the last sign-in by one.',
  ),
  created_at: time,
})

export const mappedAttributesField = described(
  v.pipe(
    v.array(
      v.strictObject(
        { attribute: name, claim: text('text', LIMITS.connectionFieldCharactersMax) },
        MAPPED_WISH,
      ),
      MAPPED_WISH,
    ),
    v.maxLength(mappedMax, MAPPED_WISH),
    v.check((all) => areApart(all.map(({ attribute }) => attribute)), MAPPED_WISH),
  ),
  'Which claim of the provider is which attribute of people here, for access rules. For SAML: `claim` is the name of an attribute there.',
)
export const MappedAttributesAnswer = v.array(
  v.strictObject({ attribute: v.string(), claim: v.string() }),
)
