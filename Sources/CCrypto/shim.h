#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// EVP_PKEY_Q_keygen is variadic, and EVP_EC_gen a macro with a cast. A key of the curve P-256, which all phones and browsers know.
static inline EVP_PKEY *vitalgate_certificate_key(void) { return EVP_EC_gen("P-256"); }

/// Macros with casts.
static inline long vitalgate_bio_text(BIO *bio, char **text) { return BIO_get_mem_data(bio, text); }
static inline int vitalgate_alternative_names(const STACK_OF(GENERAL_NAME) *names) { return sk_GENERAL_NAME_num(names); }
static inline GENERAL_NAME *vitalgate_alternative_name(const STACK_OF(GENERAL_NAME) *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}
static inline void vitalgate_free_names(STACK_OF(GENERAL_NAME) *names) { GENERAL_NAMES_free(names); }
static inline const ASN1_STRING *vitalgate_name_text(const GENERAL_NAME *name) {
    return name->type == GEN_DNS ? name->d.dNSName : name->type == GEN_IPADD ? name->d.iPAddress : NULL;
}
static inline int vitalgate_name_is_address(const GENERAL_NAME *name) { return name->type == GEN_IPADD; }
