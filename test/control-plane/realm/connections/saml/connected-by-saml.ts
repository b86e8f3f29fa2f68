/** A tenant that people come in to by SAML. */
import type { Test } from 'tap'
import type { NewSamlConnection } from '../../../../../control-plane/connections/saml/saml-connections.ts'
import { ACTOR, Browser, startWorld, type World, type WorldOptions } from '../../realm-world.ts'
import { atProvider } from '../connected.ts'
import {
  assertionXml,
  honestFields,
  metadataXml,
  newSigningKey,
  posted,
  requestIn,
  responseXml,
  signed,
  type Fields,
  type Person,
  type Sent,
  type SigningKey,
} from './saml-peer.ts'

export async function startSaml(
  t: Test,
  options: WorldOptions = {},
  wished: Partial<NewSamlConnection> = {},
) {
  const world = await startWorld(t, options)
  const tenant = await world.tenant('acme')
  const key = await newSigningKey()
  const connection = await activeSaml(world, 'acme', [key.certificate], wished)
  return { world, tenant, key, connection }
}

export const SETTINGS = {
  name: 'Company',
  ...{
    createsPeople: true,
    mfaValues: [],
    attributes: [],
    metadataUrl: null,
    signsRequests: false,
  },
  ...{ subjectAttribute: null, emailAttribute: null, nameAttribute: null },
  ...{ groupsAttribute: null, groups: [] },
}

export async function activeSaml(
  world: World,
  tenantId: string,
  certificates: readonly string[],
  wished: Partial<NewSamlConnection> = {},
) {
  const settings = { ...SETTINGS, metadata: metadataXml(certificates), ...wished }
  const { connectionId, updatedAt } = await world.samlConnections.create(tenantId, settings, ACTOR)
  await world.connections.noteTested(tenantId, connectionId, updatedAt, ACTOR)
  return world.connections.activate(tenantId, connectionId, ACTOR)
}

export const GRACE: Person = {
  nameId: 'grace-1',
  attributes: { email: ['grace@company.example'], displayName: ['Grace Hopper'] },
}

type Part = 'Assertion' | 'Response'

/** What an honest provider has a browser post, as XML. */
export function answerTo(
  sent: Sent,
  key: SigningKey,
  person: Person = GRACE,
  changed: Partial<Fields> = {},
  parts: readonly Part[] = ['Assertion'],
): string {
  const fields = { ...honestFields(sent), ...changed }
  let xml = responseXml(fields, assertionXml(fields, person))
  for (const part of parts) xml = signed(xml, part, key)
  return xml
}

/** As a browser does with a form of another site: no cookie comes along. */
export async function post(
  world: World,
  { acsUrl }: Pick<Sent, 'acsUrl'>,
  xml: string,
  fields: Record<string, string> = {},
) {
  const response = await new Browser(world.baseUrl).once(acsUrl, {
    method: 'POST',
    body: new URLSearchParams({ SAMLResponse: posted(xml), ...fields }),
    headers: { 'sec-fetch-site': 'cross-site', origin: 'https://idp.company.example' },
  })
  const html = await response.text()
  return { status: response.status, to: response.headers.get('location') ?? '', html, response }
}

/** Somebody at the sign-in page who has been sent to the provider. */
export async function away(
  world: World,
  tenant: Parameters<typeof atProvider>[1],
  connection: { connectionId: string },
  parameters: Record<string, string> = {},
) {
  const person = await atProvider(world, tenant, connection, parameters)
  return { ...person, sent: requestIn(person.to) }
}

/** All the way; what the last page was. */
export async function comeBack(
  world: World,
  person: Awaited<ReturnType<typeof away>>,
  xml: string,
) {
  const answer = await post(world, person.sent, xml)
  if (answer.status !== 303) return { url: '', html: answer.html, status: answer.status }
  const { url, html, response } = await person.browser.visit(answer.to)
  return { url, html, status: response.status }
}
