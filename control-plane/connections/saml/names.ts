/** What SAML 2.0 and XML Signature call things. */
export const SAML = 'urn:oasis:names:tc:SAML:2.0:assertion'
export const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'
export const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
export const DSIG = 'http://www.w3.org/2000/09/xmldsig#'

export const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success'
export const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
export const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
export const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
export const REDIRECT_BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
export const POST_BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'

export const ENVELOPED = `${DSIG}enveloped-signature`
export const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'

/** A hash, and by which kind of key: no SHA-1, no MD5, no HMAC, so that none can be asked for. */
export const SIGNATURE_METHODS = {
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': { hash: 'sha256', key: 'rsa' },
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384': { hash: 'sha384', key: 'rsa' },
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': { hash: 'sha512', key: 'rsa' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256': { hash: 'sha256', key: 'ec' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384': { hash: 'sha384', key: 'ec' },
  'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512': { hash: 'sha512', key: 'ec' },
} as const

export const DIGEST_METHODS = {
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#sha384': 'sha384',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
} as const
