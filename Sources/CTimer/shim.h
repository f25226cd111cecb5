#pragma once
// glibc's own, which Swift's module of it leaves out.
#include <sys/timerfd.h>
#include <sys/timex.h>
