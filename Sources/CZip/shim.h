#pragma once
#include <libdeflate.h>
#include <zip.h>
