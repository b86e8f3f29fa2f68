/**
 * As much of xml-crypto as tests sign and compare with. Its own types are not taken, since they declare
 * all of a browser for the whole program.
 */
import { createRequire } from 'node:module'

interface Algorithm {
  getAlgorithmName(): string
}

interface SignatureAlgorithm extends Algorithm {
  getSignature(text: string, key: string): string
  verifySignature(): boolean
}

interface XmlSigner {
  SignatureAlgorithms: Record<string, new () => SignatureAlgorithm>
  loadSignature(signature: string): void
  checkSignature(xml: string): boolean
  getSignedReferences(): string[]
  addReference(reference: {
    readonly xpath: string
    readonly transforms: readonly string[]
    readonly digestAlgorithm: string
    readonly inclusiveNamespacesPrefixList?: readonly string[]
  }): void
  computeSignature(
    xml: string,
    options: { readonly location: { readonly reference: string; readonly action: string } },
  ): void
  getSignedXml(): string
}

interface SignerSettings {
  readonly publicCert?: string
  readonly privateKey?: string
  readonly signatureAlgorithm?: string
  readonly canonicalizationAlgorithm?: string
  readonly getKeyInfoContent?: () => string | null
}

interface XmlCrypto {
  readonly SignedXml: new (settings: SignerSettings) => XmlSigner
}

export const xmlCrypto = createRequire(import.meta.url)('xml-crypto') as XmlCrypto
