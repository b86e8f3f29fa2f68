/**
 * Signatures, by xml-crypto with tables of our own: what is not in them cannot be asked for, and no key
 * is tried but those of the provider's metadata, whatever a message says of keys. What comes out are the
 * bytes that were signed; nothing else of the message is worth anything.
 */
import { createHash, verify, type KeyObject } from 'node:crypto'
import type { SignedXml as SignedXmlType } from 'xml-crypto'
import { ProviderProblem } from '../provider-client.ts'
import { publicKeyOf } from './certificates.ts'
import type { GatedMessage } from './message-gate.ts'
import { DIGEST_METHODS, DSIG, ENVELOPED, EXCLUSIVE, SAML, SIGNATURE_METHODS } from './names.ts'

/** Not loaded before somebody needs them: few tenants have such a connection. */
const loadXml = async () => {
  const [crypto, dom] = await Promise.all([import('xml-crypto'), import('@xmldom/xmldom')])
  return { ...crypto, ...dom }
}

/** What has to stand in a table of xml-crypto, which makes one whenever it needs it. */
type Table<Key extends keyof SignedXmlType> = SignedXmlType[Key]

/**
 * The canonical bytes of what is signed: of the response where that is, else of its assertion. Where
 * both are, both have to hold.
 */
export async function verifiedBytesOf(
  { source, isResponseSigned, isAssertionSigned }: GatedMessage,
  certificates: readonly string[],
): Promise<{ readonly xml: string; readonly isResponse: boolean }> {
  const { DOMParser, SignedXml } = await loadXml()
  const document = new DOMParser({
    errorHandler: {
      warning: () => undefined,
      error: () => failed(),
      fatalError: () => failed(),
    },
  }).parseFromString(source, 'text/xml')
  const response = document.documentElement
  const assertion = childCalled(response, SAML, 'Assertion')
  const keys = certificates.map(publicKeyOf)

  function bytesOf(signed: Element | undefined): string {
    const signature = childCalled(signed, DSIG, 'Signature')
    if (signed === undefined || signature === undefined) return failed()
    const checker = new SignedXml({ publicCert: 'pinned' })
    useOurTables(checker, keys)
    try {
      checker.loadSignature(signature)
      if (!checker.checkSignature(source)) return failed()
    } catch {
      return failed()
    }
    const [bytes, other] = checker.getSignedReferences()
    return bytes === undefined || other !== undefined ? failed() : bytes
  }

  const ofAssertion = isAssertionSigned ? bytesOf(assertion) : undefined
  const ofResponse = isResponseSigned ? bytesOf(response) : undefined
  if (ofResponse !== undefined) return { xml: ofResponse, isResponse: true }
  return { xml: ofAssertion ?? failed(), isResponse: false }
}

function failed(): never {
  throw new ProviderProblem(
    'the signature does not hold: it is not by a certificate of the metadata, or something was changed',
  )
}

function useOurTables(checker: SignedXmlType, keys: readonly KeyObject[]) {
  checker.idAttributes = ['ID']
  checker.getCertFromKeyInfo = () => null
  const { [ENVELOPED]: enveloped, [EXCLUSIVE]: exclusive } = checker.CanonicalizationAlgorithms
  if (enveloped === undefined || exclusive === undefined) throw new Error('xml-crypto has changed')
  checker.CanonicalizationAlgorithms = { [ENVELOPED]: enveloped, [EXCLUSIVE]: exclusive }
  checker.HashAlgorithms = Object.fromEntries(
    Object.entries(DIGEST_METHODS).map(([name, hash]) => [
      name,
      function digest() {
        return {
          getAlgorithmName: () => name,
          getHash: (xml: string) => createHash(hash).update(xml, 'utf8').digest('base64'),
        }
      },
    ]),
  ) as unknown as Table<'HashAlgorithms'>
  checker.SignatureAlgorithms = Object.fromEntries(
    Object.entries(SIGNATURE_METHODS).map(([name, { hash, key: type }]) => {
      const isBy = (material: string, value: string) =>
        keys
          .filter(({ asymmetricKeyType }) => asymmetricKeyType === type)
          .some((key) =>
            // XML Signature writes ECDSA as two numbers (RFC 4051, section 2.3.6)
            verify(
              hash,
              Buffer.from(material),
              { key, dsaEncoding: 'ieee-p1363' },
              Buffer.from(value, 'base64'),
            ),
          )
      return [
        name,
        function signature() {
          return {
            getAlgorithmName: () => name,
            getSignature: () => failed(),
            verifySignature: (material: string, _key: unknown, value: string) =>
              isBy(material, value),
          }
        },
      ]
    }),
  ) as unknown as Table<'SignatureAlgorithms'>
}

function childCalled(parent: Element | undefined, namespace: string, name: string) {
  for (let node = parent?.firstChild ?? null; node !== null; node = node.nextSibling) {
    const element = node as Element
    if (node.nodeType === 1 && element.namespaceURI === namespace && element.localName === name)
      return element
  }
  return undefined
}
