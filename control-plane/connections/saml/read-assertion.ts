/**
 * What a posted response is worth: read, gated, verified, and what was signed gated once more. Pure. The
 * one way from bytes of a stranger to somebody's identity.
 */
import { ProviderProblem } from '../provider-client.ts'
import {
  gateAssertion,
  gateResponse,
  type Expected,
  type GatedAssertion,
} from './assertion-gate.ts'
import { gateMessage, readSigned } from './message-gate.ts'
import { SAML } from './names.ts'
import { verifiedBytesOf } from './verify.ts'
import { onlyChildOf, type XmlElement } from './xml.ts'

/** `certificates` are those of the metadata of the connection whose address it was posted to. */
export function readAssertion(
  response: XmlElement,
  certificates: readonly string[],
  expected: Expected,
): GatedAssertion {
  const { xml, isResponse } = verifiedBytesOf(gateMessage(response), certificates)
  const bytes = readSigned(xml)
  const assertion = isResponse ? onlyChildOf(bytes, SAML, 'Assertion') : bytes
  if (assertion === undefined) throw new ProviderProblem('the response holds no assertion')
  const inResponseTo = gateResponse(isResponse ? bytes : response, expected)
  const read = gateAssertion(assertion, expected)
  if (read.inResponseTo !== inResponseTo)
    throw new ProviderProblem('response and assertion answer different requests (InResponseTo)')
  return read
}
