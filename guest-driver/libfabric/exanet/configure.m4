dnl SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
dnl Configury specific to the libfabric exanet provider

dnl Called to configure this provider
dnl
dnl Arguments:
dnl
dnl $1: action if configured successfully
dnl $2: action if not configured successfully
dnl
AC_DEFUN([FI_EXANET_CONFIGURE],[
	# The provider can only be loadable, because libfabric's list of built-in providers
	# does not contain exanet.  With CPPFLAGS the compiler must find libexanet.h and
	# the headers rnic/*.h and rnic/exanet/*.h, which libexanet.h and the provider
	# include.
	exanet_happy=0
	AS_IF([test x"$enable_exanet" != x"no" && test $exanet_dl -eq 1],
	      [FI_CHECK_PACKAGE([exanet],
				[libexanet.h],
				[exanet],
				[exa_open],
				[],
				[$exanet_PREFIX],
				[$exanet_LIBDIR],
				[exanet_happy=1],
				[exanet_happy=0])
	      ])

	AS_IF([test $exanet_happy -eq 1], [$1], [$2])
])
