/* A stand-in for the library of NVIDIA's driver: two cards.
 * INIT is what nvmlInit_v2 returns, QUERY what every question to a card returns, and COUNT the number of
 * cards; the function that BROKEN names returns an error. With FEW only the symbols of the start are there. */
#include <string.h>
#include <unistd.h>

#ifndef INIT
#define INIT 0
#endif
#ifndef QUERY
#define QUERY 0
#endif
#ifndef COUNT
#define COUNT 2
#endif

#ifndef BROKEN
#define BROKEN ""
#endif
#define BROKEN_CODE 999

typedef unsigned int uint;
typedef unsigned long long ull;
typedef struct { uint version; ull total, reserved, free, used; } Memory;
typedef struct { uint gpu, memory; } Utilization;
typedef struct { uint pid; ull used; uint gpu_instance, compute_instance; } Process;

static int cards[2] = {0, 1};

static int broken(const char *function) { return strcmp(function, BROKEN) ? 0 : BROKEN_CODE; }
static int answer(const char *function) { return QUERY ? QUERY : broken(function); }

int nvmlInit_v2(void) { return INIT ? INIT : broken(__func__); }
int nvmlShutdown(void) { return broken(__func__); }
const char *nvmlErrorString(int code) { (void)code; return "stand-in"; }

#ifndef FEW
int nvmlDeviceGetCount_v2(uint *count) { *count = COUNT; return broken(__func__); }
int nvmlDeviceGetHandleByIndex_v2(uint index, void **card) {
    if (index >= 2) return 2;
    *card = &cards[index];
    return broken(__func__);
}
int nvmlDeviceGetUUID(void *card, char *text, uint len) {
    (void)len;
    strcpy(text, *(int *)card ? "GPU-bbbb-2" : "GPU-aaaa-1");
    return broken(__func__);
}
int nvmlDeviceGetName(void *card, char *text, uint len) {
    (void)card; (void)len;
    strcpy(text, "Stand-in 3000");
    return answer(__func__);
}
int nvmlDeviceGetMemoryInfo_v2(void *card, Memory *memory) {
    (void)card;
    memory->total = 1000; memory->reserved = 7; memory->free = 893; memory->used = 100;
    return answer(__func__);
}
int nvmlDeviceGetTemperature(void *card, int sensor, uint *value) { (void)card; (void)sensor; *value = 41; return answer(__func__); }
int nvmlDeviceGetPowerUsage(void *card, uint *value) { (void)card; *value = 65000; return answer(__func__); }
int nvmlDeviceGetUtilizationRates(void *card, Utilization *rates) { (void)card; rates->gpu = 88; rates->memory = 12; return answer(__func__); }
int nvmlDeviceGetClockInfo(void *card, int kind, uint *value) { (void)card; *value = 1000 + kind; return answer(__func__); }
int nvmlDeviceGetComputeRunningProcesses_v3(void *card, uint *count, Process *processes) {
    (void)card;
    if (answer(__func__)) return answer(__func__);
    if (*count < 2) { *count = 2; return 7; }
    *count = 2;
    processes[0] = (Process){(uint)getpid(), 64, 0xffffffff, 0xffffffff};
    processes[1] = (Process){1, 32, 0xffffffff, 0xffffffff};
    return 0;
}
#endif
