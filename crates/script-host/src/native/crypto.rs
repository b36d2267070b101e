//! What `crypto.subtle` is made of: private keys are PKCS #8, public keys are SubjectPublicKeyInfo, secrets are bytes.

#![expect(clippy::needless_pass_by_value, reason = "rquickjs gives arguments by value")]

use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::encoding::{AsBigEndian, AsDer, EcPrivateKeyBin, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    self, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RsaEncoding, RsaKeyPair,
    UnparsedPublicKey, VerificationAlgorithm,
};
use aws_lc_rs::{digest, hkdf, hmac, pbkdf2};
use rquickjs::{Ctx, Exception, Result, TypedArray};

use crate::text;

/// Does one thing; what it is done with depends on what it is. Throws if it cannot be done.
pub(super) fn subtle<'js>(
    ctx: Ctx<'js>,
    what: String,
    kind: String,
    hash: String,
    given: Vec<TypedArray<'js, u8>>,
) -> Result<TypedArray<'js, u8>> {
    let given: Vec<Vec<u8>> = given.iter().map(|it| text::bytes(it).unwrap_or_default()).collect();
    let part = |at: usize| given.get(at).map_or(&[][..], Vec::as_slice);
    let work = CryptoWork { kind: &kind, hash: &hash };
    let done = match what.as_str() {
        "digest" => work.digest(part(0)),
        "mac" => work.mac(part(0), part(1)),
        "seal" => seal(part(0), part(1), part(2), part(3)),
        "open" => open(part(0), part(1), part(2), part(3)),
        "sign" => work.sign(part(0), part(1)),
        "verify" => work.verify(part(0), part(1), part(2)).map(|is_right| vec![u8::from(is_right)]),
        "generate" => work.generate(),
        "public" => work.public(part(0)),
        "private" => work.private(part(0), part(1)),
        "scalar" => work.scalar(part(0)),
        "pbkdf2" => work.pbkdf2(part(0), part(1), number(part(2)), number(part(3))),
        "hkdf" => work.hkdf(part(0), part(1), part(2), number(part(3))),
        _ => None,
    };
    let done = done
        .ok_or_else(|| Exception::throw_type(&ctx, &format!("{what}: {kind} {hash}: it cannot be done")))?;
    TypedArray::new_copy(ctx, done)
}

/// A number as JavaScript gives it: four bytes, the highest first.
fn number(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_be_bytes)
}

/// The algorithm and the hash that work is done with. Nothing comes of what does not fit together.
struct CryptoWork<'a> {
    kind: &'a str,
    hash: &'a str,
}

impl CryptoWork<'_> {
    fn digest(&self, data: &[u8]) -> Option<Vec<u8>> {
        let algorithm = match self.hash {
            "SHA-1" => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            "SHA-256" => &digest::SHA256,
            "SHA-384" => &digest::SHA384,
            "SHA-512" => &digest::SHA512,
            _ => return None,
        };
        Some(digest::digest(algorithm, data).as_ref().to_vec())
    }

    fn mac(&self, key: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let algorithm = match self.hash {
            "SHA-1" => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            "SHA-256" => hmac::HMAC_SHA256,
            "SHA-384" => hmac::HMAC_SHA384,
            "SHA-512" => hmac::HMAC_SHA512,
            _ => return None,
        };
        Some(hmac::sign(&hmac::Key::new(algorithm, key), data).as_ref().to_vec())
    }

    fn curve(&self) -> Option<&'static EcdsaSigningAlgorithm> {
        match (self.kind, self.hash) {
            ("P-256", "SHA-256" | "") => Some(&signature::ECDSA_P256_SHA256_FIXED_SIGNING),
            ("P-384", "SHA-384" | "") => Some(&signature::ECDSA_P384_SHA384_FIXED_SIGNING),
            ("P-521", "SHA-512" | "") => Some(&signature::ECDSA_P521_SHA512_FIXED_SIGNING),
            _ => None,
        }
    }

    fn rsa_encoding(&self) -> Option<&'static dyn RsaEncoding> {
        match (self.kind, self.hash) {
            ("RSASSA-PKCS1-v1_5", "SHA-256") => Some(&signature::RSA_PKCS1_SHA256),
            ("RSASSA-PKCS1-v1_5", "SHA-384") => Some(&signature::RSA_PKCS1_SHA384),
            ("RSASSA-PKCS1-v1_5", "SHA-512") => Some(&signature::RSA_PKCS1_SHA512),
            ("RSA-PSS", "SHA-256") => Some(&signature::RSA_PSS_SHA256),
            ("RSA-PSS", "SHA-384") => Some(&signature::RSA_PSS_SHA384),
            ("RSA-PSS", "SHA-512") => Some(&signature::RSA_PSS_SHA512),
            _ => None,
        }
    }

    fn sign(&self, key: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        if self.kind == "Ed25519" {
            return Some(Ed25519KeyPair::from_pkcs8_maybe_unchecked(key).ok()?.sign(data).as_ref().to_vec());
        }
        if let Some(curve) = self.curve() {
            let pair = EcdsaKeyPair::from_pkcs8(curve, key).ok()?;
            return Some(pair.sign(&random, data).ok()?.as_ref().to_vec());
        }
        let pair = RsaKeyPair::from_pkcs8(key).ok()?;
        let mut signed = vec![0; pair.public_modulus_len()];
        pair.sign(self.rsa_encoding()?, &random, data, &mut signed).ok()?;
        Some(signed)
    }

    fn verify(&self, key: &[u8], signed: &[u8], data: &[u8]) -> Option<bool> {
        let algorithm: &'static dyn VerificationAlgorithm = match (self.kind, self.hash) {
            ("Ed25519", _) => &signature::ED25519,
            ("P-256", "SHA-256") => &signature::ECDSA_P256_SHA256_FIXED,
            ("P-384", "SHA-384") => &signature::ECDSA_P384_SHA384_FIXED,
            ("P-521", "SHA-512") => &signature::ECDSA_P521_SHA512_FIXED,
            ("RSASSA-PKCS1-v1_5", "SHA-256") => &signature::RSA_PKCS1_2048_8192_SHA256,
            ("RSASSA-PKCS1-v1_5", "SHA-384") => &signature::RSA_PKCS1_2048_8192_SHA384,
            ("RSASSA-PKCS1-v1_5", "SHA-512") => &signature::RSA_PKCS1_2048_8192_SHA512,
            ("RSA-PSS", "SHA-256") => &signature::RSA_PSS_2048_8192_SHA256,
            ("RSA-PSS", "SHA-384") => &signature::RSA_PSS_2048_8192_SHA384,
            ("RSA-PSS", "SHA-512") => &signature::RSA_PSS_2048_8192_SHA512,
            _ => return None,
        };
        Some(UnparsedPublicKey::new(algorithm, key).verify(data, signed).is_ok())
    }

    /// A new private key.
    fn generate(&self) -> Option<Vec<u8>> {
        if self.kind == "Ed25519" {
            return Some(Ed25519KeyPair::generate().ok()?.to_pkcs8v1().ok()?.as_ref().to_vec());
        }
        if let Some(curve) = self.curve() {
            return Some(EcdsaKeyPair::generate(curve).ok()?.to_pkcs8v1().ok()?.as_ref().to_vec());
        }
        let size = match self.hash {
            "2048" => KeySize::Rsa2048,
            "3072" => KeySize::Rsa3072,
            "4096" => KeySize::Rsa4096,
            _ => return None,
        };
        let der =
            AsDer::<aws_lc_rs::encoding::Pkcs8V1Der<'_>>::as_der(&RsaKeyPair::generate(size).ok()?).ok()?;
        Some(der.as_ref().to_vec())
    }

    /// The public key of a private one.
    fn public(&self, key: &[u8]) -> Option<Vec<u8>> {
        let der: PublicKeyX509Der<'_> = if self.kind == "Ed25519" {
            Ed25519KeyPair::from_pkcs8_maybe_unchecked(key).ok()?.public_key().as_der().ok()?
        } else if let Some(curve) = self.curve() {
            EcdsaKeyPair::from_pkcs8(curve, key).ok()?.public_key().as_der().ok()?
        } else {
            RsaKeyPair::from_pkcs8(key).ok()?.public_key().as_der().ok()?
        };
        Some(der.as_ref().to_vec())
    }

    /// The private key of a number and, on a curve, its point.
    fn private(&self, secret: &[u8], public: &[u8]) -> Option<Vec<u8>> {
        let document = match self.curve() {
            Some(curve) => EcdsaKeyPair::from_private_key_and_public_key(curve, secret, public)
                .ok()?
                .to_pkcs8v1()
                .ok()?,
            None => Ed25519KeyPair::from_seed_and_public_key(secret, public).ok()?.to_pkcs8v1().ok()?,
        };
        Some(document.as_ref().to_vec())
    }

    /// The number of a private key.
    fn scalar(&self, key: &[u8]) -> Option<Vec<u8>> {
        if self.kind == "Ed25519" {
            let seed = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key).ok()?.seed().ok()?;
            return Some(seed.as_be_bytes().ok()?.as_ref().to_vec());
        }
        let pair = EcdsaKeyPair::from_pkcs8(self.curve()?, key).ok()?;
        let number: EcPrivateKeyBin<'_> = pair.private_key().as_be_bytes().ok()?;
        Some(number.as_ref().to_vec())
    }

    fn pbkdf2(&self, password: &[u8], salt: &[u8], times: u32, length: u32) -> Option<Vec<u8>> {
        let algorithm = match self.hash {
            "SHA-1" => pbkdf2::PBKDF2_HMAC_SHA1,
            "SHA-256" => pbkdf2::PBKDF2_HMAC_SHA256,
            "SHA-384" => pbkdf2::PBKDF2_HMAC_SHA384,
            "SHA-512" => pbkdf2::PBKDF2_HMAC_SHA512,
            _ => return None,
        };
        let mut derived = vec![0; length as usize];
        pbkdf2::derive(algorithm, std::num::NonZeroU32::new(times)?, salt, password, &mut derived);
        Some(derived)
    }

    fn hkdf(&self, secret: &[u8], salt: &[u8], info: &[u8], length: u32) -> Option<Vec<u8>> {
        let algorithm = match self.hash {
            "SHA-1" => hkdf::HKDF_SHA1_FOR_LEGACY_USE_ONLY,
            "SHA-256" => hkdf::HKDF_SHA256,
            "SHA-384" => hkdf::HKDF_SHA384,
            "SHA-512" => hkdf::HKDF_SHA512,
            _ => return None,
        };
        let mut derived = vec![0; length as usize];
        let key = hkdf::Salt::new(algorithm, salt).extract(secret);
        key.expand(&[info], KeyLength(derived.len())).ok()?.fill(&mut derived).ok()?;
        Some(derived)
    }
}

/// How much is wanted.
#[derive(Clone, Copy)]
struct KeyLength(usize);

impl hkdf::KeyType for KeyLength {
    fn len(&self) -> usize {
        self.0
    }
}

fn aes(key: &[u8]) -> Option<LessSafeKey> {
    let algorithm = match key.len() {
        16 => &AES_128_GCM,
        32 => &AES_256_GCM,
        _ => return None,
    };
    Some(LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?))
}

fn seal(key: &[u8], iv: &[u8], more: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let mut sealed = data.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(iv).ok()?;
    aes(key)?.seal_in_place_append_tag(nonce, Aad::from(more), &mut sealed).ok()?;
    Some(sealed)
}

fn open(key: &[u8], iv: &[u8], more: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let mut opened = data.to_vec();
    let nonce = Nonce::try_assume_unique_for_key(iv).ok()?;
    let length = aes(key)?.open_in_place(nonce, Aad::from(more), &mut opened).ok()?.len();
    opened.truncate(length);
    Some(opened)
}
