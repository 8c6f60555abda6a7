// Basic plan of the OpenID Foundation's conformance suite.
import { describeBasicPlan } from '../../../../conformance/openid/basic-plan.suite.ts';

describeBasicPlan('oidcc-basic-certification-test-plan', 'default');
