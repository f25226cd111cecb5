#pragma once
#include <libxml/xmlerror.h>
#include <libxml/xmlreader.h>
#include <libxml/xmlschemas.h>
#include <string.h>

/// The first error that a parser met: its code, its line, and what libxml2 says of it, cut to fit.
typedef struct {
    int code;
    int line;
    char message[512];
} vitalgate_xml_problem;

// The error became const in 2.12.
#if LIBXML_VERSION >= 21200
typedef const xmlError *vitalgate_xml_error;
#else
typedef xmlErrorPtr vitalgate_xml_error;
#endif

static inline void vitalgate_xml_note(void *data, vitalgate_xml_error error) {
    vitalgate_xml_problem *problem = (vitalgate_xml_problem *)data;
    if (problem == NULL || error == NULL || error->level < XML_ERR_ERROR || problem->code != 0) return;
    problem->code = error->code;
    problem->line = error->line;
    if (error->message != NULL) strncpy(problem->message, error->message, sizeof(problem->message) - 1);
}

/// The handler's type differs by the version; nothing is written to standard error then.
static inline void vitalgate_xml_listen(xmlTextReaderPtr reader, vitalgate_xml_problem *problem) {
    xmlTextReaderSetStructuredErrorHandler(reader, vitalgate_xml_note, problem);
}

/// The same of a schema that is being read.
static inline void vitalgate_xml_listen_schema(xmlSchemaParserCtxtPtr context, vitalgate_xml_problem *problem) {
    xmlSchemaSetParserStructuredErrors(context, vitalgate_xml_note, problem);
}

/// xmlFree is a variable.
static inline void vitalgate_xml_free(xmlChar *text) {
    xmlFree(text);
}

/// The same of a document that is being validated.
static inline void vitalgate_xml_listen_validity(xmlSchemaValidCtxtPtr context, vitalgate_xml_problem *problem) {
    xmlSchemaSetValidStructuredErrors(context, vitalgate_xml_note, problem);
}
