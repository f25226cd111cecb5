/// The names of messages in Garmin's FIT profile, and of the fields of activity messages.
///
/// Source: garmin-fit-sdk 21.218.0, Garmin's own decoder.
enum FITNames {
    static func message(_ number: UInt16) -> String { messages[UInt64(number)] ?? "unknown_\(number)" }

    /// Returns the name under which a field of a record, a session or a lap is counted.
    static func field(_ number: UInt8, of message: UInt16) -> String {
        let names =
            switch message {
            case FITProfile.Message.session: session
            case FITProfile.Message.lap: lap
            default: record
            }
        return "\(self.message(message)).\(names[UInt64(number)] ?? "unknown_\(number)")"
    }

    /// `mesg_num`.
    private static let messages = FITProfile.names(
        """
        0=file_id 1=capabilities 2=device_settings 3=user_profile 4=hrm_profile 5=sdm_profile 6=bike_profile \
        7=zones_target 8=hr_zone 9=power_zone 10=met_zone 12=sport 13=training_settings 15=goal 18=session 19=lap \
        20=record 21=event 23=device_info 26=workout 27=workout_step 28=schedule 30=weight_scale 31=course \
        32=course_point 33=totals 34=activity 35=software 37=file_capabilities 38=mesg_capabilities \
        39=field_capabilities 49=file_creator 51=blood_pressure 53=speed_zone 55=monitoring 72=training_file 78=hrv \
        80=ant_rx 81=ant_tx 82=ant_channel_id 101=length 103=monitoring_info 104=battery 105=pad 106=slave_device \
        127=connectivity 128=weather_conditions 129=weather_alert 131=cadence_zone 132=hr 142=segment_lap 145=memo_glob \
        148=segment_id 149=segment_leaderboard_entry 150=segment_point 151=segment_file 158=workout_session \
        159=watchface_settings 160=gps_metadata 161=camera_event 162=timestamp_correlation 164=gyroscope_data \
        165=accelerometer_data 167=three_d_sensor_calibration 169=video_frame 174=obdii_data 177=nmea_sentence \
        178=aviation_attitude 184=video 185=video_title 186=video_description 187=video_clip 188=ohr_settings \
        200=exd_screen_configuration 201=exd_data_field_configuration 202=exd_data_concept_configuration \
        206=field_description 207=developer_data_id 208=magnetometer_data 209=barometer_data \
        210=one_d_sensor_calibration 211=monitoring_hr_data 216=time_in_zone 225=set 227=stress_level 229=max_met_data \
        258=dive_settings 259=dive_gas 262=dive_alarm 264=exercise_title 268=dive_summary 269=spo2_data 275=sleep_level \
        285=jump 289=aad_accel_features 290=beat_intervals 297=respiration_rate 302=hsa_accelerometer_data \
        304=hsa_step_data 305=hsa_spo2_data 306=hsa_stress_data 307=hsa_respiration_data 308=hsa_heart_rate_data \
        312=split 313=split_summary 314=hsa_body_battery_data 315=hsa_event 317=climb_pro 319=tank_update \
        323=tank_summary 346=sleep_assessment 370=hrv_status_summary 371=hrv_value 372=raw_bbi \
        375=device_aux_battery_info 376=hsa_gyroscope_data 387=chrono_shot_session 388=chrono_shot_data \
        389=hsa_configuration_data 393=dive_apnea_alarm 398=skin_temp_overnight 409=hsa_wrist_temperature_data \
        412=nap_event 470=sleep_disruption_severity_period 471=sleep_disruption_overnight_severity
        """)

    private static let record = FITProfile.names(
        """
        0=position_lat 1=position_long 2=altitude 3=heart_rate 4=cadence 5=distance 6=speed 7=power \
        8=compressed_speed_distance 9=grade 10=resistance 11=time_from_course 12=cycle_length 13=temperature 17=speed_1s \
        18=cycles 19=total_cycles 28=compressed_accumulated_power 29=accumulated_power 30=left_right_balance \
        31=gps_accuracy 32=vertical_speed 33=calories 39=vertical_oscillation 40=stance_time_percent 41=stance_time \
        42=activity_type 43=left_torque_effectiveness 44=right_torque_effectiveness 45=left_pedal_smoothness \
        46=right_pedal_smoothness 47=combined_pedal_smoothness 48=time128 49=stroke_type 50=zone 51=ball_speed \
        52=cadence256 53=fractional_cadence 54=total_hemoglobin_conc 55=total_hemoglobin_conc_min \
        56=total_hemoglobin_conc_max 57=saturated_hemoglobin_percent 58=saturated_hemoglobin_percent_min \
        59=saturated_hemoglobin_percent_max 62=device_index 67=left_pco 68=right_pco 69=left_power_phase \
        70=left_power_phase_peak 71=right_power_phase 72=right_power_phase_peak 73=enhanced_speed 78=enhanced_altitude \
        81=battery_soc 82=motor_power 83=vertical_ratio 84=stance_time_balance 85=step_length 87=cycle_length16 \
        91=absolute_pressure 92=depth 93=next_stop_depth 94=next_stop_time 95=time_to_surface 96=ndl_time 97=cns_load \
        98=n2_load 99=respiration_rate 108=enhanced_respiration_rate 114=grit 115=flow 116=current_stress \
        117=ebike_travel_range 118=ebike_battery_level 119=ebike_assist_mode 120=ebike_assist_level_percent \
        123=air_time_remaining 124=pressure_sac 125=volume_sac 126=rmv 127=ascent_rate 129=po2 139=core_temperature \
        253=timestamp
        """)

    private static let session = FITProfile.names(
        """
        0=event 1=event_type 2=start_time 3=start_position_lat 4=start_position_long 5=sport 6=sub_sport \
        7=total_elapsed_time 8=total_timer_time 9=total_distance 10=total_cycles 11=total_calories 13=total_fat_calories \
        14=avg_speed 15=max_speed 16=avg_heart_rate 17=max_heart_rate 18=avg_cadence 19=max_cadence 20=avg_power \
        21=max_power 22=total_ascent 23=total_descent 24=total_training_effect 25=first_lap_index 26=num_laps \
        27=event_group 28=trigger 29=nec_lat 30=nec_long 31=swc_lat 32=swc_long 33=num_lengths 34=normalized_power \
        35=training_stress_score 36=intensity_factor 37=left_right_balance 38=end_position_lat 39=end_position_long \
        41=avg_stroke_count 42=avg_stroke_distance 43=swim_stroke 44=pool_length 45=threshold_power 46=pool_length_unit \
        47=num_active_lengths 48=total_work 49=avg_altitude 50=max_altitude 51=gps_accuracy 52=avg_grade \
        53=avg_pos_grade 54=avg_neg_grade 55=max_pos_grade 56=max_neg_grade 57=avg_temperature 58=max_temperature \
        59=total_moving_time 60=avg_pos_vertical_speed 61=avg_neg_vertical_speed 62=max_pos_vertical_speed \
        63=max_neg_vertical_speed 64=min_heart_rate 65=time_in_hr_zone 66=time_in_speed_zone 67=time_in_cadence_zone \
        68=time_in_power_zone 69=avg_lap_time 70=best_lap_index 71=min_altitude 78=active_time 79=avg_strokes_per_length \
        80=avg_swolf 82=player_score 83=opponent_score 84=opponent_name 85=stroke_count 86=zone_count 87=max_ball_speed \
        88=avg_ball_speed 89=avg_vertical_oscillation 90=avg_stance_time_percent 91=avg_stance_time \
        92=avg_fractional_cadence 93=max_fractional_cadence 94=total_fractional_cycles 95=avg_total_hemoglobin_conc \
        96=min_total_hemoglobin_conc 97=max_total_hemoglobin_conc 98=avg_saturated_hemoglobin_percent \
        99=min_saturated_hemoglobin_percent 100=max_saturated_hemoglobin_percent 101=avg_left_torque_effectiveness \
        102=avg_right_torque_effectiveness 103=avg_left_pedal_smoothness 104=avg_right_pedal_smoothness \
        105=avg_combined_pedal_smoothness 106=num_segment_laps 107=front_gear_shift_count 108=rear_gear_shift_count \
        110=sport_profile_name 111=sport_index 112=time_standing 113=stand_count 114=avg_left_pco 115=avg_right_pco \
        116=avg_left_power_phase 117=avg_left_power_phase_peak 118=avg_right_power_phase 119=avg_right_power_phase_peak \
        120=avg_power_position 121=max_power_position 122=avg_cadence_position 123=max_cadence_position \
        124=enhanced_avg_speed 125=enhanced_max_speed 126=enhanced_avg_altitude 127=enhanced_min_altitude \
        128=enhanced_max_altitude 129=avg_lev_motor_power 130=max_lev_motor_power 131=lev_battery_consumption \
        132=avg_vertical_ratio 133=avg_stance_time_balance 134=avg_step_length 137=total_anaerobic_training_effect \
        139=avg_vam 140=avg_depth 141=max_depth 142=surface_interval 143=start_cns 144=end_cns 145=start_n2 146=end_n2 \
        147=avg_respiration_rate 148=max_respiration_rate 149=min_respiration_rate 150=min_temperature 155=o2_toxicity \
        156=dive_number 168=training_load_peak 169=enhanced_avg_respiration_rate 170=enhanced_max_respiration_rate \
        180=enhanced_min_respiration_rate 181=total_grit 182=total_flow 183=jump_count 186=avg_grit 187=avg_flow \
        192=workout_feel 193=workout_rpe 194=avg_spo2 195=avg_stress 196=metabolic_calories 197=sdrr_hrv 198=rmssd_hrv \
        199=total_fractional_ascent 200=total_fractional_descent 208=avg_core_temperature 209=min_core_temperature \
        210=max_core_temperature 211=avg_grade_adjusted_speed 253=timestamp 254=message_index
        """)

    private static let lap = FITProfile.names(
        """
        0=event 1=event_type 2=start_time 3=start_position_lat 4=start_position_long 5=end_position_lat \
        6=end_position_long 7=total_elapsed_time 8=total_timer_time 9=total_distance 10=total_cycles 11=total_calories \
        12=total_fat_calories 13=avg_speed 14=max_speed 15=avg_heart_rate 16=max_heart_rate 17=avg_cadence \
        18=max_cadence 19=avg_power 20=max_power 21=total_ascent 22=total_descent 23=intensity 24=lap_trigger 25=sport \
        26=event_group 27=nec_lat 28=nec_long 29=swc_lat 30=swc_long 32=num_lengths 33=normalized_power \
        34=left_right_balance 35=first_length_index 37=avg_stroke_distance 38=swim_stroke 39=sub_sport \
        40=num_active_lengths 41=total_work 42=avg_altitude 43=max_altitude 44=gps_accuracy 45=avg_grade \
        46=avg_pos_grade 47=avg_neg_grade 48=max_pos_grade 49=max_neg_grade 50=avg_temperature 51=max_temperature \
        52=total_moving_time 53=avg_pos_vertical_speed 54=avg_neg_vertical_speed 55=max_pos_vertical_speed \
        56=max_neg_vertical_speed 57=time_in_hr_zone 58=time_in_speed_zone 59=time_in_cadence_zone 60=time_in_power_zone \
        61=repetition_num 62=min_altitude 63=min_heart_rate 70=active_time 71=wkt_step_index 73=avg_swolf \
        74=opponent_score 75=stroke_count 76=zone_count 77=avg_vertical_oscillation 78=avg_stance_time_percent \
        79=avg_stance_time 80=avg_fractional_cadence 81=max_fractional_cadence 82=total_fractional_cycles \
        83=player_score 84=avg_total_hemoglobin_conc 85=min_total_hemoglobin_conc 86=max_total_hemoglobin_conc \
        87=avg_saturated_hemoglobin_percent 88=min_saturated_hemoglobin_percent 89=max_saturated_hemoglobin_percent \
        90=avg_strokes_per_length 91=avg_left_torque_effectiveness 92=avg_right_torque_effectiveness \
        93=avg_left_pedal_smoothness 94=avg_right_pedal_smoothness 95=avg_combined_pedal_smoothness \
        96=front_gear_shift_count 97=rear_gear_shift_count 98=time_standing 99=stand_count 100=avg_left_pco \
        101=avg_right_pco 102=avg_left_power_phase 103=avg_left_power_phase_peak 104=avg_right_power_phase \
        105=avg_right_power_phase_peak 106=avg_power_position 107=max_power_position 108=avg_cadence_position \
        109=max_cadence_position 110=enhanced_avg_speed 111=enhanced_max_speed 112=enhanced_avg_altitude \
        113=enhanced_min_altitude 114=enhanced_max_altitude 115=avg_lev_motor_power 116=max_lev_motor_power \
        117=lev_battery_consumption 118=avg_vertical_ratio 119=avg_stance_time_balance 120=avg_step_length 121=avg_vam \
        122=avg_depth 123=max_depth 124=min_temperature 136=enhanced_avg_respiration_rate \
        137=enhanced_max_respiration_rate 147=avg_respiration_rate 148=max_respiration_rate 149=total_grit \
        150=total_flow 151=jump_count 153=avg_grit 154=avg_flow 155=metabolic_calories 156=total_fractional_ascent \
        157=total_fractional_descent 158=avg_core_temperature 159=min_core_temperature 160=max_core_temperature \
        161=avg_grade_adjusted_speed 253=timestamp 254=message_index
        """)
}
