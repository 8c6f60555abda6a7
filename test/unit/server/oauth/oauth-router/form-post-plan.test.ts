// Form Post plan of the OpenID Foundation's conformance suite: the modules of the Basic plan.
import { describeBasicPlan } from '../../../../conformance/openid/basic-plan.suite.ts';

describeBasicPlan('oidcc-formpost-basic-certification-test-plan', 'form_post');
