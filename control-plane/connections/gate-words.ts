/** Why the gate lets nobody in, for whoever has to mend it. */
import type { GateProblem } from './gate.ts'

export const GATE_WORDS: Readonly<Record<GateProblem, string>> = {
  subject_missing: 'the provider names nobody',
  subject_not_persistent:
    'the NameID is not persistent: choose that format at the provider, or an attribute that identifies people here',
  subject_of_others:
    'the NameID is qualified for another provider or application (NameQualifier, SPNameQualifier): have the provider leave that out, or choose an attribute that identifies people here',
  subject_is_address:
    'the identifier is an email address, which can pass to another person: choose another NameID format or attribute',
  subject_attribute_missing:
    'the attribute that identifies people is missing, or has more than one value',
  hosted_domain_missing: 'the account belongs to no Google Workspace domain',
  hosted_domain_foreign: 'the account belongs to another Google Workspace domain',
  directory_missing: 'the ID token names no directory',
  directory_foreign: 'the account belongs to another directory',
  object_id_missing: 'the ID token has no object ID',
  organization_missing:
    'the account is no active member of the organization, or the organization has not approved this OAuth app',
  organization_foreign:
    'another organization has this name by now: change the connection to the present name of yours, and test it',
}
